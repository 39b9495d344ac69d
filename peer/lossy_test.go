package peer

import (
	"sync/atomic"
	"testing"

	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

// lossy is the codec of a node that refuses half of what it is asked for.
type lossy struct {
	payload.Codec
	asked *atomic.Int64
}

// Encode implements [payload.Codec].
func (l *lossy) Encode(to payload.Peer, sp proto.Span) (*payload.Buffer, error) {
	if l.asked.Add(1)%2 == 0 {
		return nil, payload.ErrAbsent
	}
	return l.Codec.Encode(to, sp)
}

// A member that refuses half of its requests harms nobody.
func TestLossyMember(t *testing.T) {
	nodes := grid(t, 2, 3)
	_, link, content := seedCoded(t, nodes[0], 12<<20, 16)
	var asked atomic.Int64
	nodes[3].faults.Codec = func(_ *proto.Link, c payload.Codec) payload.Codec { return &lossy{c, &asked} }
	gets := fetch(t, nodes[1:], link)
	mustArrive(t, gets, content)
	mustNameNobody(t, gets)
	if asked.Load() < 2 {
		t.Error("nobody was refused anything")
	}
}
