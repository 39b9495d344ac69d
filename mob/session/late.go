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

// Late lists the fetches of which every byte is requested, the oldest first.
func (t *Table) Late() []*Fetch {
	var fs []*Fetch
	for _, f := range t.Fetches {
		if f.Peer != nil && f.Helper == nil && !f.Alone && f.Requested() && f.Missing > 0 && !f.IsPlanned(t.Work) {
			fs = append(fs, f)
		}
	}
	slices.SortFunc(fs, func(a, b *Fetch) int { return cmp.Or(a.Started.Compare(b.Started), a.Piece-b.Piece) })
	return fs
}

// IsFaster reports whether p would deliver a late piece much sooner than the peer that has kept it
// waiting, or, if p's link is spare, than that peer probably will.
func (p *Peer) IsFaster(f *Fetch, now time.Time, stall time.Duration, spare bool) bool {
	queue := p.Pipe.Limits.Queue
	rest := p.Pipe.Wait() + float64(f.Missing)/max(p.Pipe.Rate(), 1)
	waited := f.Peer.Pipe.Waited(now, f.Piece) - f.grace()
	if waited > 3*queue && waited.Seconds() > 2*rest || waited > stall/2 {
		return true
	}
	return spare && f.Peer.Pipe.Wait() > 2*(rest+p.Pipe.Queue.Seconds())
}
