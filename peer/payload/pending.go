// Package requests keeps account of the blocks that one node asked another for:
// [Pending] at the one that waits for them, [Queue] at the one that serves.
package payload

import (
	"sync"

	"github.com/mobgrid/mob/proto"
)

// maxLate bounds the cancelled spans that are remembered for one peer.
const maxLate = 4096

// Pending knows which blocks a peer was asked for, so that what was not is
// never written. Safe for concurrent use.
type Pending struct {
	mu   sync.Mutex
	open map[proto.Span]struct{}
	late map[proto.Span]struct{} // cancelled, may still come
}

// NewPending is empty.
func NewPending() *Pending {
	return &Pending{open: map[proto.Span]struct{}{}, late: map[proto.Span]struct{}{}}
}

// Add notes a request.
func (a *Pending) Add(sp proto.Span) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open[sp] = struct{}{}
}

// Cancel notes that a request was taken back.
func (a *Pending) Cancel(sp proto.Span) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.open[sp]; !ok {
		return
	}
	delete(a.open, sp)
	if len(a.late) >= maxLate {
		clear(a.late)
	}
	a.late[sp] = struct{}{}
}

// Take says whether a block that came was asked for, or was until lately.
func (a *Pending) Take(sp proto.Span) (wanted, late bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, wanted = a.open[sp]; wanted {
		delete(a.open, sp)
		return true, false
	}
	_, late = a.late[sp]
	delete(a.late, sp)
	return false, late
}
