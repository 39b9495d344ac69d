package session

import (
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/flow"
	"github.com/mobgrid/mob/proto"
)

// Fetch is a piece in progress.
type Fetch struct {
	flow.Progress
	Level   *Level // the outermost group that it enters; nil if it comes from the own cluster
	Claimed bool   // announced that it enters that, or comes from the only member that has it
	Peer    *Peer  // the next request goes to it; nil if there is none at the moment
	Helper  *Peer  // bytes are requested of it a second time, in the end game
	// Alone is true if the piece comes from one peer or not at all: it was bad when it came from
	// several. Discarded is true once it lost that peer.
	Alone, Discarded bool
	Started          time.Time
	ClaimedAt        time.Time // when it was last claimed
	// It was claimed ahead for the peer WaitsAt, and is requested from the time NotBefore on: see
	// [Table.AwaitClaims].
	WaitsAt   *Peer
	NotBefore time.Time
}

// Start starts a piece. If alone is true it comes from one peer only.
func (t *Table) Start(i int, alone bool) *Fetch {
	f := &Fetch{Progress: flow.NewProgress(i, t.Layout.SizeOf(i)), Started: t.Now, Alone: alone}
	t.Wanted.Remove(i)
	t.Fetches[i] = f
	return f
}

// IsPlanned reports whether a piece comes from its parent in the plan.
func (f *Fetch) IsPlanned(work *assign.Assignment) bool {
	return f.Peer != nil && work.Sends(f.Peer.Planned, f.Piece)
}

// grace returns the time in which a peer need not have sent anything: an external peer looks at its
// requests on a timer, and a node may be slower than a queue explains.
func (f *Fetch) grace() time.Duration {
	switch p := f.Peer; {
	case p == nil:
		return 0
	case p.External:
		return time.Duration(p.Pipe.Wait() * float64(time.Second))
	default:
		return max(p.AnswerLimit()-2*p.Pipe.Limits.Queue, 0)
	}
}

// age returns the time that a fetch has taken, without the time that any takes.
func (f *Fetch) age(now time.Time) time.Duration { return max(now.Sub(f.Started)-f.grace(), 0) }

// Remaining estimates how long a fetch will take yet, by how long it took for what has arrived.
func (f *Fetch) Remaining(now time.Time) time.Duration {
	if f.Peer != nil && f.Peer.Pipe.Size > 0 { // no part of it arrives before the rest
		return time.Duration(f.Peer.Pipe.Wait() * float64(time.Second))
	}
	return time.Duration(float64(f.age(now)) * float64(f.Missing) / float64(max(f.Size-f.Missing, proto.Cell)))
}

// Enters reports whether a piece that is being fetched comes from outside of a group.
func (f *Fetch) Enters(l *Level) bool { return f != nil && f.Level != nil && f.Level.Index <= l.Index }

// Concerns reports whether a piece that is being fetched comes from outside of a group that a peer
// is in, or that is beside one.
func (f *Fetch) Concerns(p *Peer) bool {
	return f != nil && f.Level != nil && f.Level.Index <= p.Shared
}

// Leave takes the fetch from p, which will not send a span. The span is to be requested again, unless it is requested of a
// second peer too.
func (f *Fetch) Leave(p *Peer, sp proto.Span) {
	other := f.Peer
	if other == p {
		other = f.Helper
	}
	if f.Helper == p {
		f.Helper = nil
	}
	if other == nil || !other.Pipe.Has(sp) {
		f.GiveBack(sp)
	}
	if f.Peer == p {
		f.Peer, f.Helper = f.Helper, nil
	}
}
