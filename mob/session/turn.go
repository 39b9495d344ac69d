package session

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/timer"
)

// Members of a cluster, and clusters, that wait for the same new piece would all start it at the same time, before their
// claims arrive. So they have an order for each piece, which each computes alone. A node leaves the piece to the ones
// before it until their claims would have arrived.

// TakeTurn defers a piece that a remote peer just got, for the active members whose turn is before the
// node's.
func (t *Table) TakeTurn(p *Peer, i int) {
	active := p.ActiveOver()
	turn := ((p.Position-i)%active + active) % active
	if turn == 0 || !t.Wanted.Has(i) || !p.Level.Free(i) || len(p.Deferred) >= avail.MaxTimes {
		return
	}
	t.Defer(p, i, time.Duration(turn)*p.Level.ClaimDelay())
}

// Defer keeps the node from beginning a piece with a peer for some time.
func (t *Table) Defer(p *Peer, i int, pause time.Duration) {
	at := t.Now.Add(pause)
	p.Deferred[i] = at
	t.Due.Sooner(timer.Turn, at)
}

// Crosses reports whether a piece would arrive from a peer before other members' claims on it. Only
// this member starts a piece of its share. On a slower link, or where claims arrive quickly, there is
// time to leave the piece to another member, and a wait would leave the link idle. The first piece of
// a link waits only where answers are late.
func (t *Table) Crosses(p *Peer, i int) bool {
	if p.Level.Size == 1 || p.Level.Share.Has(i) {
		return false
	}
	if p.Pipe.Rate() == 0 {
		return p.Level.ClaimDelay() > t.Tuning.Turn
	}
	claim := p.Level.ClaimDelay()
	if t := p.Level.AnswerTime; t > 0 { // between idle machines that is far less
		claim = max(leastClaimTime, t)
	}
	return float64(t.Layout.Size) < p.Pipe.Rate()*(2*claim).Seconds()
}

// leastClaimTime is the least time that a claim is assumed to take until members act on it.
const leastClaimTime = 2 * time.Millisecond

// AwaitClaims has a fetch wait for other members' claims. Meanwhile it has no peer, and more pieces
// may be claimed ahead. Then it is left to its peer for the time of a queue: other peers that have it,
// such as the source, have rarer pieces.
func (t *Table) AwaitClaims(p *Peer, f *Fetch) {
	f.NotBefore = t.Now.Add(p.Level.ClaimDelay())
	f.Started, f.WaitsAt = f.NotBefore, p
	f.Peer, p.Current = nil, nil
	t.Waiting = append(t.Waiting, f)
	t.Due.Sooner(timer.Turn, f.NotBefore)
}

// isAhead reports whether a fetch that was claimed for a peer still waits for its request.
func (t *Table) isAhead(f *Fetch) bool {
	return f.Level != nil && f.Peer == nil && t.Fetches[f.Piece] == f
}

// TakeClaimed returns the first fetch that was claimed for a peer, and need not wait any longer. It returns
// nil if there is none.
func (t *Table) TakeClaimed(p *Peer) *Fetch {
	for k, f := range t.Waiting {
		if f.WaitsAt == p && !t.Now.Before(f.NotBefore) && t.isAhead(f) && t.MaySend(p, f) {
			t.Waiting = slices.Delete(t.Waiting, k, k+1)
			return f
		}
	}
	return nil
}

// MayClaimAhead reports whether another piece may be claimed for a peer while claimed ones wait: as
// many as the peer sends in that time, and at least one.
func (t *Table) MayClaimAhead(p *Peer) bool {
	ahead := 0
	for _, f := range t.Waiting {
		if f.WaitsAt == p {
			ahead++
		}
	}
	return ahead == 0 || float64((ahead+1)*t.Layout.Size) <= p.Pipe.Rate()*p.Level.ClaimDelay().Seconds()
}

// TooLate reports whether a piece that is started with a remote peer now would arrive after the group that it
// enters has all pieces, at its present rate. Near the end there are fewer pieces than links, and all members would
// wait for a piece on a slow one. It is left to faster links. If none takes it, the rate falls until the
// piece is started after all. Where the group has enough coded blocks none is too late: they may be linearly dependent.
func (t *Table) TooLate(p *Peer) bool {
	left, ok := p.Level.Inflow.Left(t.Now)
	r := p.Pipe.Rate()
	return ok && r > 0 && !(t.Layout.Whole && left <= 0) && p.Level.Seeds == 0 && float64(p.Pipe.InFlight()+t.Layout.Size)/r > left
}

// HasChoice reports whether a local peer has enough pieces that no other member has, from one piece
// on, for each member to start another one. With fewer, all start the same, and each would claim every
// piece to every other member.
func (t *Table) HasChoice(p *Peer, from int) bool {
	alone, seen, own := 1, 0, t.Own()
	for i := range t.Wanted.Intersection(p.Have, from) {
		if own.Holders[i] == 1 {
			alone++
		}
		if seen++; alone >= own.Size || seen >= maxCandidates {
			break
		}
	}
	return alone >= own.Size
}

// EndTurns makes deferred pieces available that are due, and fetches that have waited to their peers. It returns
// the fetches that any other peer may have now.
func (t *Table) EndTurns() (ended []*Fetch) {
	if !t.Due.Expired(timer.Turn, t.Now) {
		return nil
	}
	for _, p := range t.Peers {
		for i, at := range p.Deferred {
			if t.Now.Before(at) {
				t.Due.Sooner(timer.Turn, at)
				continue
			}
			delete(p.Deferred, i)
			p.Idle = false
			t.Refill(p)
		}
	}
	t.Waiting = slices.DeleteFunc(t.Waiting, func(f *Fetch) bool {
		until := f.NotBefore.Add(t.Tuning.Queue)
		switch claimed := t.isAhead(f); {
		case t.Now.Before(f.NotBefore):
			t.Due.Sooner(timer.Turn, f.NotBefore)
			return false
		case claimed && t.Now.Before(until) && t.MaySend(f.WaitsAt, f):
			t.Due.Sooner(timer.Turn, until)
			t.Refill(f.WaitsAt)
			return false
		case claimed:
			ended = append(ended, f)
		}
		t.Refill(f.WaitsAt)
		return true
	})
	return ended
}
