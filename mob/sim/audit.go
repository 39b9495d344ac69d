package sim

import (
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// audit counts what should not happen, or seldom.
type audit struct {
	// doubled are bytes asked for while another peer owed them, again those that
	// were there already.
	doubled, again int64
	// copies are bytes that arrived twice; copiesWAN those of them that crossed
	// the WAN.
	copies, copiesWAN int64
	rejects, failed   int
	useless           int
	// elsewhere are the pieces that a node other than the source has.
	elsewhere *bitset.Set
	messages  map[proto.Type]*Count
	survey    *survey // of idle links; nil without Config.Idle
}

// Count is a number of messages and their bytes.
type Count struct{ Messages, Bytes int64 }

func (a *audit) request(n, to *node, sp proto.Span) {
	a.again += int64(int(sp.Length) - n.store.fresh(sp))
	for _, o := range n.asked[sp.Piece] {
		if o.peer != to {
			if o.Begin < sp.Begin+sp.Length && sp.Begin < o.Begin+o.Length {
				a.doubled += int64(min(o.Begin+o.Length, sp.Begin+sp.Length) - max(o.Begin, sp.Begin))
			}
		}
	}
}

func (a *audit) arrival(n *node, x *parcel) {
	dup := int64(int(x.span.Length) - n.store.fresh(x.span))
	a.copies += dup
	if x.from.cluster != n.cluster {
		a.copiesWAN += dup
	}
}

func (a *audit) stored(n *node, piece int) {
	if n.index != 0 {
		a.elsewhere.Add(piece)
	}
	a.survey.stored(n.cluster, piece)
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
