package mob

import (
	"slices"
	"time"
)

// Members of a mob, and mobs, that wait for the same new piece would all begin
// it at once, before they hear of each other's claims. So for each piece they
// have an order, which each of them works out alone.

// isActive says whether the node may begin pieces with p: on the LAN, or as one of
// the crew of the link.
func (s *State) isActive(p *peer) bool {
	return p.local || p.matched && p.position < s.activeMembers(p.link)
}

// updateInterest has the peers of a link send the news that the node needs since it
// joined or left the crew there, or other peers are matched.
func (s *State) updateInterest(l *link) {
	for _, p := range l.peers {
		if p.interestSent && p.interest != s.interestIn(p) {
			s.sendWant(p)
			s.wake(p)
		}
	}
}

func (s *State) activeMembers(l *link) int { return int(max(l.active, s.leastActive())) }

// activeOver is how many members may begin pieces over the link to p, as the node
// sees it.
func (s *State) activeOver(p *peer) int { return min(s.activeMembers(p.link), s.size) }

// takeTurn leaves a piece that a global peer just got to the members of the crew
// whose turn it is before the node's, each for the time in which its claim would
// come.
func (s *State) takeTurn(p *peer, i int) {
	crew := s.activeOver(p)
	turn := ((p.position-i)%crew + crew) % crew
	if turn == 0 || !s.wanted.Has(i) || !s.free(i) {
		return
	}
	s.deferNumber(p, i, time.Duration(turn)*s.claimDelay())
}

// claimDelay is the time that a local peer's claim takes to come: half of what the local
// peers take to answer, where their machines are busy, and Turn otherwise.
func (s *State) claimDelay() time.Duration { return max(s.t.Turn, s.answerTime/2) }

// answered notes a round trip to a local peer, in an average over the last few. One that
// has slept says no more than one that is busy.
func (s *State) measureAnswer(d time.Duration) {
	s.answerTime += (min(d, 2*s.t.Queue) - s.answerTime) / 8
}

// notBefore keeps the node from beginning a piece with p for some time.
func (s *State) deferNumber(p *peer, i int, pause time.Duration) {
	at := s.now.Add(pause)
	p.deferred[i] = at
	s.scheduleTurn(at)
}

// quick says whether a piece from p may be there before others' claims on it are
// heard.
func (s *State) quick(p *peer) bool {
	r := p.meter.rate()
	return s.size > 1 && (r == 0 || float64(s.layout.Size) < r*(2*s.claimDelay()).Seconds())
}

// awaitClaims makes a fetch wait for the claims of others that are on their way,
// when the piece would be there before them. What is of the node's share nobody
// else begins, on slower links there is time to yield, and the first piece of a link
// others wait for.
func (s *State) awaitClaims(p *peer, f *fetch) {
	if s.share.has(f.piece) || !s.quick(p) || p.meter.rate() == 0 {
		return
	}
	f.notBefore = s.now.Add(s.claimDelay())
	s.waiting = append(s.waiting, f)
	s.scheduleTurn(f.notBefore)
}

// begun is a fetch, or nil while it has to wait.
func (s *State) unlessDeferred(f *fetch) *fetch {
	if f.wan && s.now.Before(f.notBefore) {
		return nil
	}
	return f
}

// turn has endTurns do its work at a time.
func (s *State) scheduleTurn(at time.Time) {
	if s.turnAt.IsZero() || at.Before(s.turnAt) {
		s.turnAt = at
	}
}

// endTurns makes the pieces available whose turn has come, and goes on with the
// fetches that have waited.
func (s *State) endTurns() {
	if s.turnAt.IsZero() || s.now.Before(s.turnAt) {
		return
	}
	s.turnAt = time.Time{}
	for _, p := range s.peers {
		for i, at := range p.deferred {
			switch {
			case !s.now.Before(at):
				delete(p.deferred, i)
				p.idle = false
				s.wake(p)
			default:
				s.scheduleTurn(at)
			}
		}
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(f *fetch) bool {
		if s.now.Before(f.notBefore) {
			s.scheduleTurn(f.notBefore)
			return false
		}
		if f.peer != nil {
			s.wake(f.peer)
		}
		return true
	})
}

// clustersBefore counts the clusters that lack a piece and are to begin it before the own
// one. It is an order of preference: nothing waits for it. When little is left that no
// cluster has begun, all look for it before they hear of each other's claims; so who comes
// second or third differs by piece too.
func (s *State) clustersBefore(i int) int {
	own, n := clusterOrder(s.salt, i), 0
	for _, h := range s.remote {
		if !h.pieces.Has(i) && clusterOrder(h.salt, i) < own {
			n++
		}
	}
	return n
}
