package peertest

import (
	"sync"

	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

// Gate holds back the blocks that a node sends, so that a test can act halfway through a
// transfer of any length.
type Gate struct {
	mu   sync.Mutex
	more *sync.Cond
	left int64 // bytes that may pass
	open bool  // all may
}

// NewGate returns a gate that lets a number of bytes pass.
func NewGate(bytes int64) *Gate {
	g := &Gate{left: bytes}
	g.more = sync.NewCond(&g.mu)
	return g
}

// Pass lets further bytes pass.
func (g *Gate) Pass(bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left += bytes
	g.more.Broadcast()
}

// Open lets everything pass.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = true
	g.more.Broadcast()
}

// Close holds back everything from now on.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left, g.open = 0, false
}

// WithGate puts a gate before every swarm of the node. It opens when the test ends.
func WithGate(g *Gate) Option {
	return func(s *setup) {
		s.gate = g
		s.faults.Codec = func(_ *proto.Link, c payload.Codec) payload.Codec { return &gated{c, g} }
	}
}

// gated is the codec of one swarm of a node with a gate.
type gated struct {
	payload.Codec
	gate *Gate
}

// Encode implements [payload.Codec].
func (g *gated) Encode(to payload.Peer, sp proto.Span) (*payload.Buffer, error) {
	g.gate.wait(int64(sp.Length))
	return g.Codec.Encode(to, sp)
}

func (g *Gate) wait(bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.open && g.left < bytes {
		g.more.Wait()
	}
	g.left -= bytes
}
