package mob

import (
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// onHave records the announcements of a peer.
func (s *State) onHave(p *peer, m *proto.Have) {
	first := s.roster.Announced(p.node)
	if len(m.Have) > 0 {
		p.idle = false
	}
	s.wake(p)
	p.Slow = int(m.Left)
	for i := range bitset.Numbers(m.Drop, s.layout.Count) {
		s.answered(p, i, false)
		s.removeHave(p, i)
		s.removeClaim(p, i)
		s.announceDropped(p, i)
	}
	for i := range bitset.Numbers(m.Claim, s.layout.Count) {
		s.addClaim(p, i)
	}
	for i := range bitset.Numbers(m.Have, s.layout.Count) {
		s.addHave(p, i)
		s.answered(p, i, true)
	}
	if first && p.Have.Full() {
		p.Slow = 0
		p.Seed = true
	}
}

// announceDropped announces a piece to a peer that dropped it. Nothing was announced while it had
// the piece too.
func (s *State) announceDropped(p *peer, i int) {
	if !p.box.Subscribed.Has(i) {
		return
	}
	f := s.fetches[i]
	switch {
	case s.stored.Offers(i):
		s.announceTo(p, i, avail.Have, true)
	case f.concerns(p):
		s.announceTo(p, i, avail.Claim, true)
	}
}

// addClaim records a claim of a peer, unless it has too many.
func (s *State) addClaim(p *peer, i int) {
	if !p.AddClaim(i) {
		return
	}
	if !p.local {
		s.addRemote(p, i)
	}
	if !p.near() {
		return
	}
	p.SetClaimed(i, s.now)
	if !p.Claims() {
		return
	}
	s.countClaim(p, i, true)
	home := p.home
	if home.Holders[i] > 0 {
		return
	}
	s.relay(i, avail.Claim)
	f := s.fetches[i]
	both := f.enters(home)
	if both && p.local && s.now.Sub(f.claimedAt) > 2*home.ClaimDelay() && !p.HasLapsed() {
		p.Overrode = s.now
	}
	// It precedes the node if it is the gateway in the plan, or else has the lesser ID.
	if first, known := s.work.Precedes(home.Index, p.member, i); known && !first || !known && p.ID > s.cfg.Self {
		return
	}
	// Two members requested a piece while their claims crossed, and the first of them continues.
	s.picker.Claimed(View{s, home}, i)
	if both {
		s.leaveRemote(f)
		s.dropClaim(f)
	}
}

// countClaim counts the claim of a peer of the site on a piece, or stops to count it, for each group
// that the peer is in: these groups have the piece, or will.
func (s *State) countClaim(p *peer, i int, counts bool) {
	s.stored.Touch(i)
	for _, l := range s.groups(p) {
		if counts {
			l.Claims[i]++
		} else {
			l.Claims[i]--
		}
	}
	if counts || !s.isLeft(p.home, i) {
		return
	}
	s.reconsider(i)
	if s.isLeft(s.site(), i) {
		s.relay(i, avail.Drop)
	}
}

// isLeft reports whether a piece is left to whoever begins it for a group: no member has, claims or
// fetches it.
func (s *table) isLeft(l *level, i int) bool {
	return l.Free(i) && !s.stored.Have.Has(i) && !s.fetches[i].enters(l)
}

// want adds a piece to those to fetch, unless it is stored or in progress, and reports whether that is news.
func (s *table) want(i int) bool {
	return !s.stored.Have.Has(i) && s.fetches[i] == nil && s.wanted.Add(i)
}

// countHave counts a piece of a peer of the site, or stops to count it.
func (s *State) countHave(p *peer, i int, counts bool) {
	s.stored.Touch(i)
	for _, l := range s.groups(p) {
		switch {
		case counts && l.AddHolder(i) && !s.stored.Have.Has(i):
			s.gained(l, i)
		case !counts && l.RemoveHolder(i) && !s.stored.Have.Has(i):
			l.Inflow.Missing++
		}
	}
	if counts {
		return
	}
	if f := s.fetches[i]; s.own().Holders[i] == 0 && f != nil && f.claimed && f.level == nil {
		s.dropClaim(f) // no member sends it, and two could wait for each other
	}
	s.reconsider(i)
}

// addHave records that a peer has a piece.
func (s *State) addHave(p *peer, i int) {
	if !p.Have.Add(i) {
		return
	}
	s.stored.Touch(i)
	p.member.AddNews(s.now)
	if !p.local {
		s.addRemote(p, i)
		if p.isActive() && s.work.Sender(i) == nil {
			s.takeTurn(p, i)
		}
		s.sparePeer(p, i)
	}
	if !p.near() {
		p.Claim.Remove(i)
		return
	}
	if p.Holds() {
		s.countHave(p, i, true)
	}
	home := p.home
	if d, ok := p.ClaimedFor(i, s.now); ok && home.Holders[i] == 1 {
		s.book.ClaimTimes.Add(d)
	}
	s.removeClaim(p, i)
	if !p.Holds() {
		return
	}
	f := s.fetches[i]
	if !f.enters(home) || 2*f.Missing <= f.Size || s.picker.Unverified(i) || f.isPlanned(s.work) {
		return
	}
	s.leaveRemote(f)
	if !p.local {
		s.dropClaim(f) // another member may be at the link to that peer
	}
}

// addRemote records that the group of a remote peer has or claims a piece.
func (s *table) addRemote(p *peer, i int) {
	if p.level.AddRemote(&p.link.Sibling, i) {
		s.stored.Touch(i)
		s.spare(p.level, i)
	}
}

// removeHave records that a peer does not have a piece any more.
func (s *State) removeHave(p *peer, i int) {
	if !p.Have.Remove(i) {
		return
	}
	delete(p.deferred, i)
	s.stored.Touch(i)
	if !p.local {
		s.removeRemote(p, i)
	}
	if !p.near() {
		return
	}
	if s.cfg.Growing {
		s.stored.Passed.Add(i)
	}
	if p.Holds() {
		s.countHave(p, i, false)
	}
}

// removeClaim records that a peer does not claim a piece any more.
func (s *State) removeClaim(p *peer, i int) {
	if !p.RemoveClaim(i) {
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
func (s *table) removeRemote(p *peer, i int) {
	for _, q := range p.link.peers {
		if q.Have.Has(i) || q.Claim.Has(i) {
			return
		}
	}
	if p.level.RemoveRemote(&p.link.Sibling, i) {
		s.stored.Touch(i)
	}
}

// gained records a piece that no member of a group had.
func (s *State) gained(l *level, i int) {
	if s.picker.Gained(View{s, l}, i) {
		l.Inflow.Add(s.now)
	}
}
