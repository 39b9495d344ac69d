package mob

import (
	"slices"
	"time"
)

// Members of a cluster, and clusters, that wait for the same new piece would all begin it at
// once, before they hear of each other's claims. So for each piece they have an order, which each
// computes alone, and leave it to those before them until a claim of theirs would have come.

// takeTurn defers a piece that a remote peer just got, for the active members whose turn is before
// the node's.
func (s *State) takeTurn(p *peer, i int) {
	active := s.activeOver(p)
	turn := ((p.position-i)%active + active) % active
	if turn == 0 || !s.wanted.Has(i) || !s.free(i) {
		return
	}
	s.deferPiece(p, i, time.Duration(turn)*s.claimDelay())
}

// claimDelay returns the time that a claim of a local peer takes to come: Turn, or half of what
// local peers take to answer where their machines are busy.
func (s *State) claimDelay() time.Duration { return max(s.t.Turn, s.answerTime/2) }

// addAnswer takes a round trip to a local peer into the average over the last few. A machine that
// has slept counts no more than a busy one.
func (s *State) addAnswer(d time.Duration) { s.answerTime += (min(d, 2*s.t.Queue) - s.answerTime) / 8 }

// deferPiece keeps the node from beginning a piece with a peer for some time.
func (s *State) deferPiece(p *peer, i int, pause time.Duration) {
	at := s.now.Add(pause)
	p.deferred[i] = at
	s.scheduleTurn(at)
}

// isQuick reports whether a piece from a peer may arrive before others' claims on it do.
func (s *State) isQuick(p *peer) bool {
	r := p.meter.rate()
	return s.size > 1 && (r == 0 || float64(s.layout.Size) < r*(2*s.claimDelay()).Seconds())
}

// awaitClaims has a fetch wait for the claims of others that are on their way, if the piece would
// arrive before them. A piece of the node's share is begun by no other member; on a slower link
// there is time to leave it to another; and for the first piece of a link others wait.
func (s *State) awaitClaims(p *peer, f *fetch) {
	if s.share.has(f.piece) || !s.isQuick(p) || p.meter.rate() == 0 {
		return
	}
	f.notBefore = s.now.Add(s.claimDelay())
	s.waiting = append(s.waiting, f)
	s.scheduleTurn(f.notBefore)
}

// scheduleTurn has endTurns called at a time.
func (s *State) scheduleTurn(at time.Time) {
	if s.turnAt.IsZero() || at.Before(s.turnAt) {
		s.turnAt = at
	}
}

// endTurns makes deferred pieces available that are due, and goes on with the fetches that have
// waited.
func (s *State) endTurns() {
	if s.turnAt.IsZero() || s.now.Before(s.turnAt) {
		return
	}
	s.turnAt = time.Time{}
	for _, p := range s.peers {
		for i, at := range p.deferred {
			if s.now.Before(at) {
				s.scheduleTurn(at)
				continue
			}
			delete(p.deferred, i)
			p.idle = false
			s.wake(p)
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

// clustersBefore returns how many clusters lack a piece and are to begin it before the own one. It
// is a preference: nothing waits for it. When little is left that no cluster has begun, all look
// for it before they hear of each other's claims, so the second and third differ by piece too.
func (s *State) clustersBefore(i int) (n int) {
	own := clusterOrder(s.salt, i)
	for _, c := range s.remote {
		if !c.pieces.Has(i) && clusterOrder(c.salt, i) < own {
			n++
		}
	}
	return n
}
