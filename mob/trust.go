package mob

import "github.com/mobgrid/mob/mob/session"

// setSilent records that a peer of the site fell silent, or is not any more. While it is, its share and its
// claims are for other members.
func (s *State) setSilent(p *session.Peer, silent bool) {
	s.recount(p, func() { p.Silent = silent })
	if silent {
		p.Slow = 0
	}
	s.roster.SetSilent(p.Node, silent)
	s.applyChanges()
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
