package mob

import (
	"slices"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// onHave takes in what a peer announces.
func (s *State) onHave(p *peer, m *proto.Have) {
	first := !p.announced
	if first {
		p.announced = true
		s.roster.Announced(p.node)
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
		p.seed = true
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
	case f.concerns(p):
		s.announceTo(p, i, updateClaim, true)
	}
}

// maxClaims bounds the times that the node keeps for a peer: those of its claims, lapsed ones included,
// and those at which deferred pieces may be requested of it. An honest peer claims what is in flight to it.
const maxClaims = 4096

// addClaim records a claim of a peer, unless it has too many.
func (s *State) addClaim(p *peer, i int) {
	if p.have.Has(i) || len(p.claimed) >= maxClaims || p.lapsed.Has(i) || !p.claim.Add(i) {
		return
	}
	if !p.local {
		s.addRemote(p, i)
	}
	if !p.near() {
		return
	}
	p.claimed[i] = s.now
	if !p.Claims() {
		return
	}
	s.countClaim(p, i, true)
	home := s.home(p)
	if home.holders[i] > 0 {
		return
	}
	s.relay(i, updateClaim)
	f := s.fetches[i]
	both := f.enters(home)
	if both && s.now.Sub(f.claimedAt) > 2*home.ClaimDelay() && p.lapsed.Len() == 0 {
		p.overrode = s.now
	}
	if !s.precedes(p, i) {
		return
	}
	// Two members requested a piece while their claims crossed, and the first of them goes on.
	s.picker.Claimed(View{s, home}, i)
	if both {
		s.leaveRemote(f)
		s.dropClaim(f)
	}
}

// precedes reports whether a peer goes before the node where both claim a piece for the groups that
// both are in: it is the one that the plan has bring the piece there, or else the one with the lesser id.
func (s *State) precedes(p *peer, i int) bool {
	home := s.home(p)
	if first, known := s.work.Precedes(home.Index, p.member, i); known {
		return first
	}
	return p.ID < s.cfg.Self
}

// countClaim notes that the claim of a peer of the site on a piece counts, or does not any more. It
// counts for each group that the peer is in: whichever the piece enters, those have it, or will.
func (s *State) countClaim(p *peer, i int, counts bool) {
	s.touch(i)
	for _, l := range s.groups(p) {
		if counts {
			l.claims[i]++
		} else {
			l.claims[i]--
		}
	}
	if counts || !s.isLeft(s.home(p), i) {
		return
	}
	s.reconsider(i)
	if s.isLeft(s.site(), i) {
		s.relay(i, updateDrop)
	}
}

// isLeft reports whether a piece is left to whoever begins it for a group: no member has, claims or
// fetches it.
func (s *State) isLeft(l *level, i int) bool {
	return s.free(l, i) && !s.have.Has(i) && !s.fetches[i].enters(l)
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

// countHave notes that a piece of a peer of the site counts, or does not any more.
func (s *State) countHave(p *peer, i int, counts bool) {
	s.touch(i)
	for _, l := range s.groups(p) {
		if counts {
			l.holders[i]++
			if l.holders[i] == 1 && !s.have.Has(i) {
				s.gained(l, i)
			}
			continue
		}
		l.holders[i]--
		if l.holders[i] == 0 && !s.have.Has(i) {
			l.inflow.lacking++
		}
	}
	if counts {
		return
	}
	if f := s.fetches[i]; s.own().holders[i] == 0 && f != nil && f.claimed && f.level == nil {
		s.dropClaim(f) // no member sends it, and two could wait for each other
	}
	s.reconsider(i)
}

// addHave notes that a peer has a piece.
func (s *State) addHave(p *peer, i int) {
	if !p.have.Add(i) {
		return
	}
	s.touch(i)
	p.member.AddNews(s.now)
	if !p.local {
		s.addRemote(p, i)
		if s.isActive(p) && !s.ordered(i) {
			s.takeTurn(p, i)
		}
		s.sparePeer(p, i)
	}
	if !p.near() {
		p.claim.Remove(i)
		return
	}
	if p.Holds() {
		s.countHave(p, i, true)
	}
	home := s.home(p)
	if at, ok := p.claimed[i]; ok && home.holders[i] == 1 {
		s.book.ClaimTimes.Add(s.now.Sub(at))
	}
	s.removeClaim(p, i)
	if !p.Holds() {
		return
	}
	f := s.fetches[i]
	if !f.enters(home) || 2*f.Missing <= f.Size || s.picker.Doubtful(i) || s.follows(f) {
		return
	}
	s.leaveRemote(f)
	if !p.local {
		s.dropClaim(f) // another member may be at the link to that peer
	}
}

// addRemote notes that a piece is in the group of a peer beside the own, or on its way there.
func (s *State) addRemote(p *peer, i int) {
	if p.link.pieces.Add(i) {
		p.level.rarity[i]++
		s.touch(i)
		if p.level.Index > 0 && p.link.pieces.Full() {
			p.level.whole = append(p.level.whole, p.link)
		}
		s.spare(p.level, i)
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
	}
	if !p.near() {
		return
	}
	if s.cfg.Growing {
		s.passed.Add(i)
	}
	if p.Holds() {
		s.countHave(p, i, false)
	}
}

// removeClaim takes back that a peer claims a piece.
func (s *State) removeClaim(p *peer, i int) {
	delete(p.claimed, i)
	if !p.claim.Remove(i) {
		return
	}
	if !p.local {
		s.removeRemote(p, i)
	}
	if p.near() && p.Claims() {
		s.countClaim(p, i, false)
	}
}

// removeRemote corrects the rarity of a piece that a remote peer has no more.
func (s *State) removeRemote(p *peer, i int) {
	for _, q := range p.link.peers {
		if q.have.Has(i) || q.claim.Has(i) {
			return
		}
	}
	if p.level.Index > 0 && p.link.pieces.Full() {
		p.level.whole = slices.DeleteFunc(p.level.whole, func(l *link) bool { return l == p.link })
	}
	if p.link.pieces.Remove(i) {
		p.level.rarity[i]--
		s.touch(i)
	}
}

// gained notes a piece that no member of a group had.
func (s *State) gained(l *level, i int) {
	if s.picker.Gained(View{s, l}, i) {
		l.inflow.add(s.now)
	}
}
