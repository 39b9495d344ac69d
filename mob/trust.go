package mob

// setSilent records that a peer of the site fell silent, or is not any more. While it is, its share and its
// claims are for other members.
func (s *State) setSilent(p *peer, silent bool) {
	s.recount(p, func() { p.Silent = silent })
	if silent {
		p.Slow = 0
	}
	s.roster.SetSilent(p.node, silent)
	s.applyChanges()
}

// recount counts the pieces and claims of a peer of the site, before and after a change of what counts.
func (s *State) recount(p *peer, change func()) {
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
	limit := max(s.t.Stall, s.book.ClaimTimes.Most())
	for _, f := range s.fetches {
		if f.level != nil && f.peer != nil {
			limit = max(limit, 2*s.now.Sub(f.started))
		}
	}
	limit += 2*s.site().ClaimDelay() + s.book.Late
	for _, p := range s.peers {
		if p.near() {
			p.Lapse(s.now, limit, func(i int) {
				if p.Claims() {
					s.countClaim(p, i, false)
				}
			})
		}
	}
}

// isOverridden reports whether members have recently started pieces that the node claims: its claims
// do not count for them, and it would fetch these pieces a second time. Where there are several
// members it takes two, since one may only have been delayed. Members of other racks do not count: claims wait behind
// blocks on the way there.
func (s *table) isOverridden() bool {
	local, by := 0, 0
	for _, p := range s.peers {
		if p.local {
			local++
		}
		if s.now.Sub(p.Overrode) < 2*s.t.Stall {
			by++
		}
	}
	return by > 0 && by >= min(2, local)
}
