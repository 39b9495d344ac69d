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
		if n := s.byID[p.ID]; n != nil {
			s.endWait(n)
		}
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
	if p.have.Has(i) || p.lapsed[i] || !p.claim.Add(i) {
		return
	}
	if !p.local {
		s.addRemote(p, i)
		return
	}
	p.claimed[i] = s.now
	if !p.claims() {
		return
	}
	s.countClaim(i, true)
	if s.holders[i] > 0 {
		return
	}
	s.relay(i, updateClaim)
	f := s.fetches[i]
	overridden := f != nil && f.wan && s.now.Sub(f.claimedAt) > 2*s.claimDelay()
	if overridden && len(p.lapsed) == 0 {
		s.overridden = s.now
	}
	if !overridden && !s.precedes(p, i) {
		return
	}
	// Two members requested a piece while their claims crossed, and the first of them goes on. Or
	// the other has heard of the claim of the node, and it does not count any more.
	s.picker.Claimed(i)
	if f != nil && f.wan {
		s.leaveWAN(f)
		f.claimed = false
		s.announce(i, updateDrop)
	}
}

// precedes reports whether a local peer goes before the node where both claim a piece: it is the
// one whose share has the piece, or else the one with the lesser id.
func (s *State) precedes(p *peer, i int) bool {
	switch {
	case s.share.Has(i):
		return false
	case s.shareOf(p).Has(i):
		return true
	}
	return p.ID < s.cfg.Self
}

// countClaim notes that the claim of a local peer on a piece counts, or does not any more.
func (s *State) countClaim(i int, counts bool) {
	s.touch(i)
	if counts {
		s.claims[i]++
		return
	}
	s.claims[i]--
	if s.isLeft(i) {
		s.reconsider(i)
		s.relay(i, updateDrop)
	}
}

// isLeft reports whether a piece is left to whoever begins it: no member has, claims or fetches it.
func (s *State) isLeft(i int) bool {
	f := s.fetches[i]
	return s.free(i) && !s.have.Has(i) && (f == nil || !f.wan)
}

// open has a piece fetched that came into being, unless it is stored. Members take turns at it, as if
// what peers announced of it before came now.
func (s *State) open(i int) (news bool) {
	if s.have.Has(i) || s.fetches[i] != nil || !s.wanted.Add(i) {
		return false
	}
	for _, p := range s.peers {
		if !p.local && p.have.Has(i) && s.isActive(p) {
			s.takeTurn(p, i)
		}
	}
	s.reconsider(i)
	return true
}

// countHave notes that a piece of a local peer counts, or does not any more.
func (s *State) countHave(i int, counts bool) {
	s.touch(i)
	if counts {
		s.holders[i]++
		if s.holders[i] == 1 && !s.have.Has(i) {
			s.gained(i)
		}
		return
	}
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
	if p.holds() {
		s.countHave(i, true)
	}
	if at, ok := p.claimed[i]; ok && s.holders[i] == 1 {
		s.claimTimes.add(s.now.Sub(at))
	}
	s.removeClaim(p, i)
	if !p.holds() {
		return
	}
	if f := s.fetches[i]; f != nil && f.wan && 2*f.missing > f.size && !s.picker.Doubtful(i) {
		s.leaveWAN(f)
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
	if s.cfg.Growing {
		s.passed.Add(i)
	}
	if p.holds() {
		s.countHave(i, false)
	}
}

// removeClaim takes back that a peer claims a piece.
func (s *State) removeClaim(p *peer, i int) {
	delete(p.claimed, i)
	if !p.claim.Remove(i) {
		return
	}
	switch {
	case !p.local:
		s.removeRemote(p, i)
	case p.claims():
		s.countClaim(i, false)
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
