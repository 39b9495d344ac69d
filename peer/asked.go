package peer

import (
	"sync"

	"github.com/mobgrid/mob/proto"
)

// maxLate bounds the cancelled spans that are remembered for one peer.
const maxLate = 4096

// askedSet knows which blocks a peer was asked for, so that what was not is
// never written. Safe for concurrent use.
type askedSet struct {
	mu   sync.Mutex
	open map[proto.Span]struct{}
	late map[proto.Span]struct{} // cancelled, may still come
}

func newAskedSet() *askedSet {
	return &askedSet{open: map[proto.Span]struct{}{}, late: map[proto.Span]struct{}{}}
}

func (a *askedSet) add(sp proto.Span) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open[sp] = struct{}{}
}

func (a *askedSet) cancel(sp proto.Span) {
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

// take says whether a block that came was asked for, or was until lately.
func (a *askedSet) take(sp proto.Span) (wanted, late bool) {
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
