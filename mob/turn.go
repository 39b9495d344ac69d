package mob

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/timer"
)

// Members of a cluster, and clusters, that wait for the same new piece would all start it at the same time, before their
// claims arrive. So they have an order for each piece, which each computes alone. A node leaves the piece to the ones
// before it until their claims would have arrived.

// takeTurn defers a piece that a remote peer just got, for the active members whose turn is before the
// node's.
func (s *table) takeTurn(p *peer, i int) {
	active := p.activeOver()
	turn := ((p.position-i)%active + active) % active
	if turn == 0 || !s.wanted.Has(i) || !p.level.Free(i) || len(p.deferred) >= avail.MaxTimes {
		return
	}
	s.deferPiece(p, i, time.Duration(turn)*p.level.ClaimDelay())
}

// deferPiece keeps the node from beginning a piece with a peer for some time.
func (s *table) deferPiece(p *peer, i int, pause time.Duration) {
	at := s.now.Add(pause)
	p.deferred[i] = at
	s.due.Sooner(timer.Turn, at)
}

// leastClaimTime is the least time that a claim is assumed to take until members act on it.
const leastClaimTime = 2 * time.Millisecond

// crosses reports whether a piece would arrive from a peer before other members' claims on it. Only
// this member starts a piece of its share. On a slower link, or where claims arrive quickly, there is
// time to leave the piece to another member, and a wait would leave the link idle. The first piece of
// a link waits only where answers are late.
func (s *table) crosses(p *peer, i int) bool {
	if p.level.Size == 1 || p.level.Share.Has(i) {
		return false
	}
	if p.pipe.Rate() == 0 {
		return p.level.ClaimDelay() > s.t.Turn
	}
	claim := p.level.ClaimDelay()
	if t := p.level.AnswerTime; t > 0 { // between idle machines that is far less
		claim = max(leastClaimTime, t)
	}
	return float64(s.layout.Size) < p.pipe.Rate()*(2*claim).Seconds()
}

// awaitClaims has a fetch wait for other members' claims. Meanwhile it has no peer, and more pieces
// may be claimed ahead. Then it is left to its peer for the time of a queue: other peers that have it,
// such as the source, have rarer pieces.
func (s *table) awaitClaims(p *peer, f *fetch) {
	f.notBefore = s.now.Add(p.level.ClaimDelay())
	f.started, f.waitsAt = f.notBefore, p
	f.peer, p.current = nil, nil
	p.ahead++
	s.waiting = append(s.waiting, f)
	s.due.Sooner(timer.Turn, f.notBefore)
}

// isAhead reports whether a fetch that was claimed for a peer still waits for its request.
func (s *table) isAhead(f *fetch) bool {
	return f.level != nil && f.peer == nil && s.fetches[f.Piece] == f
}

// takeClaimed returns the first fetch that was claimed for a peer, and need not wait any longer. It returns
// nil if there is none.
func (s *table) takeClaimed(p *peer) *fetch {
	for k, f := range s.waiting {
		if f.waitsAt == p && !s.now.Before(f.notBefore) && s.isAhead(f) && s.maySend(p, f) {
			s.waiting = slices.Delete(s.waiting, k, k+1)
			p.ahead--
			return f
		}
	}
	return nil
}

// mayClaimAhead reports whether another piece may be claimed for a peer while claimed ones wait: as
// many as the peer sends in that time, and at least one.
func (s *table) mayClaimAhead(p *peer) bool {
	return p.ahead == 0 || float64((p.ahead+1)*s.layout.Size) <= p.pipe.Rate()*p.level.ClaimDelay().Seconds()
}

// endTurns makes deferred pieces available that are due, and fetches that have waited, first to their
// peers.
func (s *State) endTurns() {
	if !s.due.Expired(timer.Turn, s.now) {
		return
	}
	for _, p := range s.peers {
		for i, at := range p.deferred {
			if s.now.Before(at) {
				s.due.Sooner(timer.Turn, at)
				continue
			}
			delete(p.deferred, i)
			p.idle = false
			s.wake(p)
		}
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(f *fetch) bool {
		until := f.notBefore.Add(s.t.Queue)
		switch claimed := s.isAhead(f); {
		case s.now.Before(f.notBefore):
			s.due.Sooner(timer.Turn, f.notBefore)
			return false
		case claimed && s.now.Before(until) && s.maySend(f.waitsAt, f):
			s.due.Sooner(timer.Turn, until)
			s.wake(f.waitsAt)
			return false
		case claimed:
			s.unassign(f)
		}
		f.waitsAt.ahead--
		s.wake(f.waitsAt)
		return true
	})
}
