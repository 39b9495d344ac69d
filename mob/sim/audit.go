package sim

import (
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// audit counts what should happen rarely or never, and messages.
type audit struct {
	// doubled are bytes requested while another peer owed them, again those that were
	// stored already.
	doubled, again           int64
	duplicate                int64 // bytes that arrived twice
	rejects, failed, useless int
	// elsewhere are the pieces that a node other than the source has.
	elsewhere *bitset.Set
	messages  map[proto.Type]*Count
}

// Count is a number of messages and their bytes.
type Count struct{ Messages, Bytes int64 }

func (a *audit) request(n, to *node, sp proto.Span) {
	a.again += int64(int(sp.Length) - n.store.missingBytes(sp))
	for _, o := range n.asked[sp.Piece] {
		if o.peer != to && o.Begin < sp.Begin+sp.Length && sp.Begin < o.Begin+o.Length {
			a.doubled += int64(min(o.Begin+o.Length, sp.Begin+sp.Length) - max(o.Begin, sp.Begin))
		}
	}
}

func (a *audit) arrival(n *node, f *frame) {
	a.duplicate += int64(int(f.span.Length) - n.store.missingBytes(f.span))
}

func (a *audit) stored(n *node, piece int) {
	if n.index != 0 {
		a.elsewhere.Add(piece)
	}
}

func (a *audit) message(t proto.Type, size int) {
	c := a.messages[t]
	if c == nil {
		c = &Count{}
		a.messages[t] = c
	}
	c.Messages++
	c.Bytes += int64(size)
}
