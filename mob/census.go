package mob

import (
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// onHave takes in what a peer announces.
func (s *State) onHave(p *peer, m *proto.Have) {
	first := !p.announced
	if first {
		p.announced, s.membersChanged = true, true
	}
	if len(m.Have) > 0 {
		p.idle = false
	}
	s.wake(p)
	p.slow = int(m.Left)
	for i := range bitset.Numbers(m.Drop, s.pieces) {
		s.answered(p, i, false)
		s.removeHave(p, i)
		s.removeClaim(p, i)
		s.announceDropped(p, i)
	}
	for i := range bitset.Numbers(m.Claim, s.pieces) {
		s.addClaim(p, i)
	}
	for i := range bitset.Numbers(m.Have, s.pieces) {
		s.addHave(p, i)
		s.answered(p, i, true)
	}
	if first && p.have.Full() {
		p.slow = 0
	}
}

// announceDropped announces a piece to a peer that dropped it. Nothing was announced while it had
// the piece too.
func (s *State) announceDropped(p *peer, i int) {
	if !p.subscribed.Has(i) {
		return
	}
	f := s.fetches[i]
	switch {
	case s.offers(i):
		s.announceTo(p, i, updateHave, true)
	case f != nil && f.wan:
		s.announceTo(p, i, updateClaim, true)
	}
}

// addClaim notes that a peer claims a piece.
func (s *State) addClaim(p *peer, i int) {
	if p.have.Has(i) || p.local && p.rationed || !p.claim.Add(i) {
		return
	}
	if !p.local {
		s.addRemote(p, i)
		return
	}
	s.touch(i)
	s.claims[i]++
	if s.holders[i] > 0 {
		return
	}
	s.relay(i, updateClaim)
	if p.ID > s.cfg.Self {
		return
	}
	// Two members requested a piece while their claims crossed. The one with the lesser id goes on.
	s.picker.Claimed(i)
	if f := s.fetches[i]; f != nil && f.wan {
		s.leaveWAN(f)
		f.claimed = false
		s.announce(i, updateDrop)
	}
}

// addHave notes that a peer has a piece.
func (s *State) addHave(p *peer, i int) {
	if !p.have.Add(i) {
		return
	}
	s.touch(i)
	if !p.local {
		p.claim.Remove(i)
		s.addRemote(p, i)
		if s.isActive(p) {
			s.takeTurn(p, i)
		}
		return
	}
	if p.rationed {
		return
	}
	s.addHolder(i)
	s.removeClaim(p, i)
	if f := s.fetches[i]; f != nil && f.wan && 2*f.missing > f.size && !s.picker.Doubtful(i) {
		s.leaveWAN(f)
	}
}

// addHolder notes that one more local peer has a piece.
func (s *State) addHolder(i int) {
	s.touch(i)
	s.holders[i]++
	if s.holders[i] == 1 && !s.have.Has(i) {
		s.gained(i)
	}
}

// addRemote notes that a piece is in the cluster of a peer, or on its way there.
func (s *State) addRemote(p *peer, i int) {
	if s.remote[p.Cluster].pieces.Add(i) {
		s.rarity[i]++
		s.touch(i)
	}
}

// removeHave takes back that a peer has a piece.
func (s *State) removeHave(p *peer, i int) {
	if !p.have.Remove(i) {
		return
	}
	delete(p.deferred, i)
	s.touch(i)
	if !p.local {
		s.removeRemote(p, i)
		return
	}
	if !p.rationed {
		s.removeHolder(i)
	}
}

// removeHolder notes that one local peer less has a piece.
func (s *State) removeHolder(i int) {
	s.touch(i)
	s.holders[i]--
	if s.holders[i] == 0 && !s.have.Has(i) {
		s.inflow.lacking++
	}
	if f := s.fetches[i]; s.holders[i] == 0 && f != nil && f.claimed && !f.wan {
		f.claimed = false // no member sends it, and two could wait for each other
		s.announce(i, updateDrop)
	}
	s.reconsider(i)
}

// removeClaim takes back that a peer claims a piece.
func (s *State) removeClaim(p *peer, i int) {
	if !p.claim.Remove(i) {
		return
	}
	if !p.local {
		s.removeRemote(p, i)
		return
	}
	s.claims[i]--
	s.touch(i)
	if f := s.fetches[i]; s.free(i) && !s.have.Has(i) && (f == nil || !f.wan) {
		s.reconsider(i)
		s.relay(i, updateDrop)
	}
}

// removeRemote corrects the rarity of a piece that a remote peer has no more.
func (s *State) removeRemote(p *peer, i int) {
	for _, q := range p.link.peers {
		if q.have.Has(i) || q.claim.Has(i) {
			return
		}
	}
	if c := s.remote[p.Cluster]; c != nil && c.pieces.Remove(i) {
		s.rarity[i]--
		s.touch(i)
	}
}

// gained notes a piece that no member of the cluster had.
func (s *State) gained(i int) {
	if s.picker.Gained(i) {
		s.inflow.add(s.now)
	}
}
