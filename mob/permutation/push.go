package permutation

import (
	"slices"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

const (
	// window is the number of blocks of a node that may be unconfirmed. Three to six are about equal; blocks
	// of a larger one are combinations of fewer blocks.
	window = 4
	// confirmTimeout is the number of ticks after which an unconfirmed block is no longer in flight. It is not
	// retransmitted, since any other block is as useful.
	confirmTimeout = 64
	// maxRound bounds the rounds that peers can report.
	maxRound = 1 << 30
)

// pushes are the blocks that the node sends.
type pushes struct {
	// round is the node's own count, heard the greatest count received.
	round, heard int
	leaving      *member // whom the block is for that leaves now, nil for none
	unconfirmed  []unconfirmed
}

// unconfirmed is a block that is being sent, or in flight.
type unconfirmed struct {
	to  *member
	age int // in ticks
}

// hear notes the round of a peer.
func (p *pushes) hear(round int) {
	if round > p.heard && round < maxRound {
		p.heard = round
	}
}

// busy reports whether a peer has not confirmed the last block to it.
func (p *pushes) busy(m *member) bool {
	return slices.ContainsFunc(p.unconfirmed, func(u unconfirmed) bool { return u.to == m })
}

func (p *pushes) forget(m *member) {
	p.unconfirmed = slices.DeleteFunc(p.unconfirmed, func(u unconfirmed) bool { return u.to == m })
}

// expire gives up blocks that are in transit for too long.
func (p *pushes) expire() {
	for i := range p.unconfirmed {
		p.unconfirmed[i].age++
	}
	p.unconfirmed = slices.DeleteFunc(p.unconfirmed, func(u unconfirmed) bool { return u.age > confirmTimeout })
}

// push sends a block to the first successor that has a use for one, from the permutation of
// the round on, unless one is leaving or the window is full.
func (s *State) push() {
	most := window
	if s.have.Full() {
		// At first no other node has these blocks, so idle time is lost to all nodes.
		most *= 2
	}
	if s.leaving != nil || len(s.unconfirmed) >= most {
		return
	}
	s.round = max(s.round, s.heard)
	first, second := s.schedule.At(s.oldest, s.round)
	for i := range Length {
		m := s.places[s.topology.Successor(s.round+i, s.place)]
		if m == nil || s.busy(m) {
			continue
		}
		for _, g := range [...]int{first, second} {
			if block, ok := s.pick(m, g); ok {
				s.leaving = m
				s.unconfirmed = append(s.unconfirmed, unconfirmed{to: m})
				s.do(mob.Push{Peer: m.ID, Generation: g, Block: block, Round: s.round})
				return
			}
		}
	}
}

// pick chooses a block of a generation for a peer: any coded one, or a random plain one
// that it lacks.
func (s *State) pick(m *member, g int) (block int, ok bool) {
	if g == None || m.complete.Has(g) {
		return 0, false
	}
	has := &s.generations[g]
	if has.plain != nil {
		return has.plain.Pick(m.plain[g], s.rng.IntN)
	}
	return 0, s.have.Has(g) && !has.damaged || has.received > 0
}

// sent records that a block has left, and starts the next round.
func (s *State) sent(id proto.PeerID) {
	if s.leaving == nil || s.leaving.ID != id {
		return
	}
	s.leaving = nil
	s.round++
	s.push()
}

// confirmed records that a block has arrived.
func (s *State) confirmed(m *member) {
	if s.busy(m) {
		s.forget(m)
		s.push()
	}
}
