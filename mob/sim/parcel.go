package sim

import (
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// parcel is a block or a control message on its way.
type parcel struct {
	conn     *conn
	from, to *node
	// message is nil for a block; then span says which.
	message proto.Message
	span    proto.Span
	pushed  *pushed // for a block of permutation gossip, instead of span
	size    int
	fin     bool // the end of the control stream
	bad     bool // a damaged block
	stage   stage
}

// stage is where a parcel is.
type stage uint8

const (
	leaving   stage = iota // through the sender's NIC
	crossing               // through the WAN link
	delivered              // there
)

// happen moves the parcel to its next stage.
func (x *parcel) happen(s *sim) {
	switch x.stage {
	case leaving:
		x.from.sending = nil
		if x.pushed != nil && x.from.conns[x.to] == x.conn {
			x.from.step(s, mob.Sent{Peer: x.to.ID})
		}
		x.from.sendNext(s)
		s.cross(x)
	case crossing:
		x.stage = delivered
		if x.message == nil && !x.fin {
			s.later(x.to.in.send(s.now, x.size), x)
			return
		}
		s.deliver(x)
	case delivered:
		s.deliver(x)
	}
}

// cross puts a parcel on the way between two nodes.
func (s *sim) cross(x *parcel) {
	x.stage = crossing
	at, delay := s.now, s.cfg.LanRTT/2
	if x.from.cluster != x.to.cluster {
		delay = s.cfg.RTT / 2
		l := s.link(x.from.cluster, x.to.cluster)
		at = l.send(s.now, x.size)
		if x.message != nil {
			l.control += int64(x.size)
		}
	} else if x.message != nil {
		s.lanControl += int64(x.size)
	} else {
		s.lanBytes += int64(x.size)
	}
	s.later(at+delay, x)
}

// deliver hands a parcel to its receiver.
func (s *sim) deliver(x *parcel) {
	n := x.to
	if !n.alive {
		return
	}
	switch {
	case x.pushed != nil:
		n.gather(s, x)
	case x.message == nil && !x.fin:
		n.receiveBlock(s, x)
	case n.conns[x.from] != x.conn:
	case x.fin:
		n.hangUp(x.from)
		n.step(s, left(x.from))
	default:
		n.receive(s, x)
	}
}
