package peer

import (
	"sync/atomic"
	"testing"

	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

// lossy is the exchange of a node that refuses half of what it is asked for.
type lossy struct {
	payload.Exchange
	asked *atomic.Int64
}

// Frame implements [payload.Exchange].
func (l *lossy) Frame(to payload.Peer, sp proto.Span) (*payload.Buffer, error) {
	if l.asked.Add(1)%2 == 0 {
		return nil, payload.ErrAbsent
	}
	return l.Exchange.Frame(to, sp)
}

// A member that refuses half of its requests harms nobody.
func TestLossyMember(t *testing.T) {
	nodes := grid(t, 2, 3)
	_, link, content := seedCoded(t, nodes[0], 12<<20, 16)
	var asked atomic.Int64
	nodes[3].faults.Exchange = func(_ *proto.Link, f payload.Form) payload.Exchange { return &lossy{f.Exchange, &asked} }
	gets := fetch(t, nodes[1:], link)
	mustArrive(t, gets, content)
	mustNameNobody(t, gets)
	if asked.Load() < 2 {
		t.Error("nobody was refused anything")
	}
}
