package sim

import (
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// frame is a block or a control message in transit.
type frame struct {
	conn     *conn
	from, to *node
	// message is nil for a block; then span says which, or pushed in permutation gossip.
	message proto.Message
	span    proto.Span
	pushed  *pushed
	size    int
	fin     bool // the end of the control stream
	bad     bool // a damaged block
	stage   stage
	way     []*link // that are left, while crossing
}

// stage is the place where a frame is.
type stage uint8

const (
	sending   stage = iota // in the sender's NIC
	crossing               // on the links between the two, or the LAN
	receiving              // in the receiver's NIC
	waiting                // for the CPU of a slow receiver
)

// happen moves the frame to its next stage.
func (f *frame) happen(s *sim) {
	switch f.stage {
	case sending:
		f.from.sending = nil
		if f.pushed != nil && f.from.conns[f.to] == f.conn {
			f.from.step(s, mob.Sent{Peer: f.to.ID})
		}
		f.from.sendNext(s)
		s.cross(f)
	case crossing:
		if len(f.way) > 0 {
			s.pass(f)
			return
		}
		f.stage = receiving
		if f.message == nil && !f.fin || s.cfg.SlowNIC[f.to.index] > 0 {
			s.later(f.to.in.send(s.now, f.size), f)
			return
		}
		s.arrive(f)
	case receiving:
		s.arrive(f)
	case waiting:
		s.deliver(f)
	}
}

// arrive has the receiver handle a frame, when it gets the CPU.
func (s *sim) arrive(f *frame) {
	if !f.to.slow {
		s.deliver(f)
		return
	}
	f.stage = waiting
	s.later(f.to.awake(s, s.now), f)
}

// cross puts a frame on the way between two nodes.
func (s *sim) cross(f *frame) {
	if at := s.heldUntil(f); at > s.now {
		s.resend(f, at)
		return
	}
	f.stage, f.way = crossing, s.ways[f.from.cluster][f.to.cluster]
	if f.from.site == f.to.site && f.message != nil {
		s.lanControl += int64(f.size)
	}
	s.pass(f)
}

// pass has a frame pass the next link of its way. The delay of all of them follows the last.
func (s *sim) pass(f *frame) {
	at := s.now
	if len(f.way) > 0 {
		l := f.way[0]
		f.way = f.way[1:]
		at = l.send(s.now, f.size)
		if f.message != nil {
			l.control += int64(f.size)
		}
	}
	if len(f.way) == 0 {
		at += s.rtt(f.from, f.to) / 2
	}
	s.later(at, f)
}

// deliver gives a frame to its receiver.
func (s *sim) deliver(f *frame) {
	n := f.to
	if !n.alive {
		return
	}
	switch {
	case f.pushed != nil:
		n.gather(s, f)
	case f.message == nil && !f.fin:
		n.receiveBlock(s, f)
	case n.conns[f.from] != f.conn:
	case f.fin:
		n.disconnect(f.from)
		n.step(s, mob.Left{Peer: f.from.ID})
	default:
		n.receive(s, f)
	}
}
