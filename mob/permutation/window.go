package permutation

import (
	"slices"

	"github.com/mobgrid/mob/proto"
)

// Where words take about as long as blocks, a node that offers each block stands idle
// for as long again, and one that is refused for longer. With a window it sends unasked,
// to one successor after the other, and a peer is busy while it has not confirmed the
// node's last block.

// unconfirmed is a block that has begun to leave without an offer.
type unconfirmed struct {
	to  *peer
	age int // in ticks
}

// patience is for how many ticks a block counts as on its way. What is lost is lost: the
// next does as well.
const patience = 64

// open says whether the window has room.
func (s *State) open() bool {
	n := s.cfg.Window
	if s.whole() {
		// What it has nobody else has, at first, so that any time it loses is lost to
		// all.
		n *= 2
	}
	return s.cfg.Window == 0 || len(s.unconfirmed) < n
}

// waitsFor says whether a peer has not confirmed the last block to it.
func (s *State) waitsFor(p *peer) bool {
	return slices.ContainsFunc(s.unconfirmed, func(u unconfirmed) bool { return u.to == p })
}

// push sends what was to be offered.
func (s *State) push() {
	s.busy = true
	s.unconfirmed = append(s.unconfirmed, unconfirmed{to: s.to})
	s.do(Send{Peer: s.to.id, Batch: s.batch, Block: s.block, Round: s.round})
}

// confirmed ends the wait for a peer.
func (s *State) confirmed(id proto.PeerID) {
	if p := s.joined[id]; p != nil && s.waitsFor(p) {
		s.forget(p)
		s.again()
	}
}

func (s *State) forget(p *peer) {
	s.unconfirmed = slices.DeleteFunc(s.unconfirmed, func(u unconfirmed) bool { return u.to == p })
}

// age gives up what is on its way for too long.
func (s *State) age() {
	for i := range s.unconfirmed {
		s.unconfirmed[i].age++
	}
	s.unconfirmed = slices.DeleteFunc(s.unconfirmed, func(u unconfirmed) bool { return u.age > patience })
}
