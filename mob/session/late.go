package session

import (
	"cmp"
	"slices"
	"time"
)

// A piece may be given away if its remaining time is at least SlowPiece, it has taken half of that, and
// less than half of it has arrived: that part crosses the WAN twice. From stuckPiece on any may be.
const (
	SlowPiece  = 700 * time.Millisecond
	stuckPiece = time.Second
)

// Slow lists the fetches from outside of a group that will take long yet, by piece.
func (t *Table) Slow(l *Level) []*Fetch {
	var fs []*Fetch
	for _, f := range t.Fetches {
		least := SlowPiece / 2
		if f.Peer != nil && f.Peer.External { // it answers in bursts, so a pause says little
			least = t.Tuning.Stall / 2
		}
		if !f.Enters(l) || f.age(t.Now) < least || f.IsPlanned(t.Work) {
			continue
		}
		if rest := f.Remaining(t.Now); rest > stuckPiece || rest > SlowPiece && 2*f.Missing > f.Size {
			fs = append(fs, f)
		}
	}
	slices.SortFunc(fs, func(a, b *Fetch) int { return a.Piece - b.Piece })
	return fs
}

// Slowest returns the peer of a group with the most slow pieces, nil if there is none, among those that the node did
// not ask for some during a pause.
func (t *Table) Slowest(l *Level, pause time.Duration) (slowest *Peer) {
	for _, p := range t.Peers {
		if p.Shared > l.Index && p.Slow > 0 && t.Now.Sub(p.StealSent) >= pause && (slowest == nil || p.Slow > slowest.Slow) {
			slowest = p
		}
	}
	return slowest
}

// Rate returns the rate at which the node fetches for a group, in bytes per second.
func (t *Table) Rate(l *Level) (rate float64) {
	for _, p := range t.Peers {
		if p.Level == l && !p.Stalled {
			rate += p.Pipe.Rate()
		}
	}
	return rate
}

// Late lists the fetches whose bytes are all requested, and the fetches from a stalled peer of the cluster, the oldest first.
func (t *Table) Late() []*Fetch {
	var fs []*Fetch
	for _, f := range t.Fetches {
		if f.Peer != nil && f.Helper == nil && !f.Alone && (f.Requested() || f.Peer.Stalled && f.Level == nil) && f.Missing > 0 && !f.IsPlanned(t.Work) {
			fs = append(fs, f)
		}
	}
	slices.SortFunc(fs, func(a, b *Fetch) int { return cmp.Or(a.Started.Compare(b.Started), a.Piece-b.Piece) })
	return fs
}

// Oldest returns the time that the oldest fetch from outside of the own cluster has taken.
func (t *Table) Oldest() (oldest time.Duration) {
	for _, f := range t.Fetches {
		if f.Level != nil && f.Peer != nil {
			oldest = max(oldest, t.Now.Sub(f.Started))
		}
	}
	return oldest
}

// IsFaster reports whether a peer would deliver a late piece much sooner than the peer that has kept it waiting.
func (t *Table) IsFaster(p *Peer, f *Fetch) bool {
	waited := f.Peer.Pipe.Waited(t.Now, f.Piece) - f.grace()
	return waited > 3*t.Tuning.Queue && waited.Seconds() > 2*p.rest(f) || waited > t.Tuning.Stall/2
}

// rest returns the time in seconds in which the peer would deliver the missing bytes of a fetch.
func (p *Peer) rest(f *Fetch) float64 {
	return p.Pipe.Wait() + float64(f.Missing)/max(p.Pipe.Rate(), 1)
}

// IsSpare reports whether the peer would probably deliver a late piece much sooner than its peer, and its link has no
// other use while all missing pieces of the group that the piece enters are claimed: no request is outstanding there.
// Near the end a cluster waits for pieces on its slow links, while fast ones are idle. The timing of external
// peers is not a measure.
func (p *Peer) IsSpare(f *Fetch) bool {
	return p.Link != nil && p.Link.Out() == 0 && f.Level != nil && !f.Peer.External && !p.External &&
		f.Peer.Pipe.Wait() > 2*(p.rest(f)+p.Pipe.Queue.Seconds())
}

// IsUnused is IsSpare for a local peer, and a late piece of the own cluster, once the node has requested all pieces. A member behind
// a slow interface has long answer times, so IsFaster waits for it for seconds.
func (t *Table) IsUnused(p *Peer, f *Fetch) bool {
	return p.Local && f.Level == nil && !f.Peer.External && t.Wanted.Len() == 0 && !p.Pipe.Busy() &&
		f.Peer.Pipe.Wait() > 2*(p.rest(f)+t.Tuning.Queue.Seconds())
}
