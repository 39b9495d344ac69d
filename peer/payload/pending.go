package payload

import (
	"sync"

	"github.com/mobgrid/mob/proto"
)

// maxCanceled bounds the canceled requests that are remembered for one peer.
const maxCanceled = 4096

// Pending is the set of requests whose blocks one peer owes this node. Blocks that are
// not in it are never written. Safe for concurrent use.
type Pending struct {
	mu        sync.Mutex
	requested map[proto.Span]bool     // whether the peer makes the block itself
	canceled  map[proto.Span]struct{} // their blocks may still arrive
}

// NewPending returns an empty set.
func NewPending() *Pending {
	return &Pending{requested: map[proto.Span]bool{}, canceled: map[proto.Span]struct{}{}}
}

// Add adds a request, and whether the peer makes the block itself. Call it before the request is sent.
func (p *Pending) Add(sp proto.Span, made bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requested[sp] = made
}

// Cancel removes a request that is canceled.
func (p *Pending) Cancel(sp proto.Span) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.requested[sp]; !ok {
		return
	}
	delete(p.requested, sp)
	if len(p.canceled) >= maxCanceled {
		clear(p.canceled)
	}
	p.canceled[sp] = struct{}{}
}

// Take removes the request of a block that arrived. It reports whether there was a request, or
// a canceled one, and whether the peer makes the block itself.
func (p *Pending) Take(sp proto.Span) (requested, made, canceled bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if made, requested = p.requested[sp]; requested {
		delete(p.requested, sp)
		return true, made, false
	}
	_, canceled = p.canceled[sp]
	delete(p.canceled, sp)
	return false, false, canceled
}
