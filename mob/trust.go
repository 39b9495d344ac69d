package mob

import "time"

// What a member of the cluster claims or has keeps others from fetching it over the WAN, so it is
// a promise. A member breaks it in one of three ways: it is silent, it lets a claim take much
// longer than claims take, or it leaves requests unanswered. What it promised counts no more then,
// and other members begin it. A slow member is late, but delivers. So the time that a promise may
// take is measured, at the member and in its cluster, and what it delivers late counts again.

// patience returns how long an answer of a peer may take.
func (s *State) patience(p *peer) time.Duration {
	if p.answers == (answers{}) {
		return s.site().answerTime
	}
	return p.answers.most()
}

// holds reports whether what a peer of the site has counts: it is not one that leaves requests
// unanswered, or is rationed.
func (p *peer) holds() bool { return p.near() && !p.snubs && !p.rationed }

// claims reports whether what a peer of the site claims counts.
func (p *peer) claims() bool { return p.holds() && !p.silent }

// setSilent notes that a peer of the site fell silent, or is not any more. While it is, its share and its
// claims are for others.
func (s *State) setSilent(p *peer, silent bool) {
	s.recount(p, func() { p.silent = silent })
	if n := s.byID[p.ID]; n != nil {
		n.silent, s.membersChanged = silent, true
	}
	if silent {
		p.slow = 0
	}
	s.updateRank(p.Cluster)
}

// setSnubs notes that a peer leaves requests unanswered, or has made up for it.
func (s *State) setSnubs(p *peer, snubs bool) {
	s.recount(p, func() { p.snubs = snubs })
}

// recount counts what a peer of the site has and claims, before and after a change of what counts.
func (s *State) recount(p *peer, change func()) {
	held, claimed := p.holds(), p.claims()
	change()
	if holds := p.holds(); holds != held {
		for i := range p.have.All() {
			s.countHave(p, i, holds)
		}
	}
	if claims := p.claims(); claims != claimed {
		for i := range p.claim.All() {
			s.countClaim(p, i, claims)
		}
	}
}

// maxProof bounds the blocks that a peer which stalled again and again must send, 1 << maxProof.
const maxProof = 6

// stall cancels the requests of a peer, for others. A little is requested of it again later, and
// what it has counts again when it has sent that: one block the first time, and twice as many each
// time after.
func (s *State) stall(p *peer) {
	s.cancelAll(p)
	p.pauseUntil = s.now.Add(s.t.Stall)
	p.stalls++
	s.stalls++
	s.setStalled(p)
}

// setStalled has a peer prove that it answers requests.
func (s *State) setStalled(p *peer) {
	p.pipe.Probing = true
	p.stalled, p.proof = true, 1<<min(p.stalls-1, maxProof)
	s.setSnubs(p, true)
}

// delivered notes that a peer sent a block.
func (s *State) delivered(p *peer) {
	p.lastBlock = s.now
	if !p.stalled {
		return
	}
	p.proof--
	if p.proof > 0 {
		return
	}
	p.stalled, p.pipe.Probing = false, false
	s.setSnubs(p, false)
}

// claimLimit returns how long a claim may last: as long as pieces take that members claim, or that
// the node itself fetches.
func (s *State) claimLimit() time.Duration {
	limit := s.t.Stall
	for _, f := range s.fetches {
		if f.level != nil && f.peer != nil {
			limit = max(limit, 2*s.now.Sub(f.started))
		}
	}
	return max(limit, s.claimTimes.most()) + 2*s.claimDelay(s.site())
}

// lapseClaims ends the claims of peers of the site that have lasted too long. A peer does not get a
// second turn at a piece.
func (s *State) lapseClaims() {
	limit := s.claimLimit() + s.late
	for _, p := range s.peers {
		if !p.near() || p.claim.Len() == 0 {
			continue
		}
		for i := range p.claim.All() {
			if s.now.Sub(p.claimed[i]) <= limit {
				continue
			}
			p.lapsed.Add(i)
			p.claim.Remove(i)
			if p.claims() {
				s.countClaim(p, i, false)
			}
		}
	}
}

// isOverridden reports whether members have lately begun what the node claims. Its claims do not count
// for them, and they would fetch a second time what it fetches over the WAN. Where there are several it
// takes two: one that was held up for a moment begins what all others have claimed.
func (s *State) isOverridden() bool {
	near, by := 0, 0
	for _, p := range s.peers {
		if p.near() {
			near++
		}
		if s.now.Sub(p.overrode) < 2*s.t.Stall {
			by++
		}
	}
	return by > 0 && by >= min(2, near)
}
