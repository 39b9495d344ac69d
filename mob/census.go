package mob

import (
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/mob/session"
	"github.com/mobgrid/mob/proto"
)

// onHave records the announcements of a peer.
func (s *State) onHave(p *session.Peer, m *proto.Have) {
	first := s.roster.Announced(p.Node)
	if len(m.Have) > 0 {
		p.Idle = false
	}
	s.Refill(p)
	p.Slow = int(m.Left)
	for i := range bitset.Numbers(m.Drop, s.Layout.Count) {
		s.answered(p, i, false)
		s.removeHave(p, i)
		s.removeClaim(p, i)
		s.announceDropped(p, i)
	}
	for i := range bitset.Numbers(m.Claim, s.Layout.Count) {
		s.addClaim(p, i)
	}
	for i := range bitset.Numbers(m.Have, s.Layout.Count) {
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
func (s *State) announceDropped(p *session.Peer, i int) {
	switch {
	case !p.Box.Subscribed.Has(i):
	case s.Stored.Offers(i):
		s.announceTo(p, i, avail.Have, true)
	case s.Fetches[i].Concerns(p):
		s.announceTo(p, i, avail.Claim, true)
	}
}

// addClaim records a claim of a peer, unless it has too many.
func (s *State) addClaim(p *session.Peer, i int) {
	if !p.AddClaim(i) {
		return
	}
	if !p.Local {
		s.AddRemote(p, i)
	}
	if !p.Near() {
		return
	}
	p.SetClaimed(i, s.Now)
	if !p.Claims() {
		return
	}
	s.countClaim(p, i, true)
	home := p.Home
	if home.Holders[i] > 0 {
		return
	}
	s.relay(i, avail.Claim)
	f := s.Fetches[i]
	both := f.Enters(home)
	if both && p.Local && s.Now.Sub(f.ClaimedAt) > 2*home.ClaimDelay() && !p.HasLapsed() {
		p.Overrode = s.Now
	}
	// It precedes the node if it is the gateway in the plan, or else has the lesser ID.
	if first, known := s.Work.Precedes(home.Index, p.Planned, i); known && !first || !known && p.ID > s.cfg.Self {
		return
	}
	// Two members requested a piece while their claims crossed, and the first of them continues.
	s.picker.Claimed(home, i)
	if both {
		s.leaveRemote(f)
		s.dropClaim(f)
	}
}

// countClaim counts the claim of a peer of the site on a piece, or stops to count it, for each group
// that the peer is in: these groups have the piece, or will.
func (s *State) countClaim(p *session.Peer, i int, counts bool) {
	s.Stored.Touch(i)
	for _, l := range s.Groups(p) {
		if counts {
			l.Claims[i]++
		} else {
			l.Claims[i]--
		}
	}
	if counts || !s.IsLeft(p.Home, i) {
		return
	}
	s.Reconsider(i)
	if s.IsLeft(s.Site(), i) {
		s.relay(i, avail.Drop)
	}
}

// countHave counts a piece of a peer of the site, or stops to count it.
func (s *State) countHave(p *session.Peer, i int, counts bool) {
	s.Stored.Touch(i)
	for _, l := range s.Groups(p) {
		switch {
		case counts && l.AddHolder(i) && !s.Stored.Have.Has(i):
			s.gained(l, i)
		case !counts && l.RemoveHolder(i) && !s.Stored.Have.Has(i):
			l.Inflow.Missing++
		}
	}
	if counts {
		return
	}
	if f := s.Fetches[i]; s.Own().Holders[i] == 0 && f != nil && f.Claimed && f.Level == nil {
		s.dropClaim(f) // no member sends it, and two could wait for each other
	}
	s.Reconsider(i)
}

// addHave records that a peer has a piece.
func (s *State) addHave(p *session.Peer, i int) {
	if !p.Have.Add(i) {
		return
	}
	s.Stored.Touch(i)
	p.Planned.AddNews(s.Now)
	if !p.Local {
		s.AddRemote(p, i)
		if p.IsActive() && s.Work.Sender(i) == nil {
			s.TakeTurn(p, i)
		}
		s.SparePeer(p, i)
	}
	if !p.Near() {
		p.Claim.Remove(i)
		return
	}
	if p.Holds() {
		s.countHave(p, i, true)
	}
	home := p.Home
	if d, ok := p.ClaimedFor(i, s.Now); ok && home.Holders[i] == 1 {
		s.book.ClaimTimes.Add(d)
	}
	s.removeClaim(p, i)
	if !p.Holds() {
		return
	}
	f := s.Fetches[i]
	if !f.Enters(home) || 2*f.Missing <= f.Size || s.picker.Unverified(i) || f.IsPlanned(s.Work) {
		return
	}
	s.leaveRemote(f)
	if !p.Local {
		s.dropClaim(f) // another member may be at the link to that peer
	}
}

// removeHave records that a peer does not have a piece any more.
func (s *State) removeHave(p *session.Peer, i int) {
	if !p.Have.Remove(i) {
		return
	}
	delete(p.Deferred, i)
	s.Stored.Touch(i)
	if !p.Local {
		s.RemoveRemote(p, i)
	}
	if !p.Near() {
		return
	}
	if s.cfg.Growing {
		s.Stored.Passed.Add(i)
	}
	if p.Holds() {
		s.countHave(p, i, false)
	}
}

// removeClaim records that a peer does not claim a piece any more.
func (s *State) removeClaim(p *session.Peer, i int) {
	if !p.RemoveClaim(i) {
		return
	}
	if !p.Local {
		s.RemoveRemote(p, i)
	}
	if p.Near() && p.Claims() {
		s.countClaim(p, i, false)
	}
}

// gained records a piece that no member of a group had.
func (s *State) gained(l *session.Level, i int) {
	if s.picker.Gained(l, i) {
		l.Inflow.Add(s.Now)
	}
}

// recount counts the pieces and claims of a peer of the site, before and after a change of what counts.
func (s *State) recount(p *session.Peer, change func()) {
	held, claimed := p.Holds(), p.Claims()
	change()
	if holds := p.Holds(); holds != held {
		for i := range p.Have.All() {
			s.countHave(p, i, holds)
		}
	}
	if claims := p.Claims(); claims != claimed {
		for i := range p.Claim.All() {
			s.countClaim(p, i, claims)
		}
	}
}

// lapseClaims ends the claims of peers of the site that have lasted too long: longer than pieces take that members claim,
// or that the node itself fetches. A peer does not get a second turn at a piece.
func (s *State) lapseClaims() {
	limit := max(s.Tuning.Stall, s.book.ClaimTimes.Most(), 2*s.Oldest()) + 2*s.Site().ClaimDelay() + s.book.Late
	for _, p := range s.Peers {
		if p.Near() {
			p.Lapse(s.Now, limit, func(i int) {
				if p.Claims() {
					s.countClaim(p, i, false)
				}
			})
		}
	}
}
