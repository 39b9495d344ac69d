package mob

import (
	"time"

	"github.com/mobgrid/mob/proto"
)

// fetch is a piece on its way: which bytes were asked for, and which came.
type fetch struct {
	progress
	// wan says that the piece comes over the WAN; claimed that the cluster was told so, or
	// that it comes from the only member that has it.
	wan, claimed bool
	// worker asks for the bytes from the next on; nil when nobody does. helper asks
	// for bytes a second time, in the end game.
	peer, helper *peer
	started      time.Time
	notBefore    time.Time // when it may begin (see awaitClaims)
}

func newFetch(piece, size int, now time.Time) *fetch {
	return &fetch{progress: newProgress(piece, size), started: now}
}

// request is one span asked of one peer.
type request struct {
	fetch *fetch
	span  proto.Span
	sent  time.Time
}

// grace is for how long nothing need have come from the worker: a guest looks at
// its requests when it sees fit, and what was asked for before comes first.
func (f *fetch) grace() time.Duration {
	if f.peer == nil || !f.peer.Guest {
		return 0
	}
	return time.Duration(f.peer.wait() * float64(time.Second))
}
