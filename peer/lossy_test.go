package peer

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/mobgrid/mob/peer/exchange"
	"github.com/mobgrid/mob/proto"
)

// lossy is the exchange of a node that refuses half of what it is asked for.
type lossy struct {
	exchange.Exchange
	asked *atomic.Int64
}

// Frame implements [exchange.Exchange].
func (l *lossy) Frame(to exchange.Peer, sp proto.Span) (*exchange.Buffer, error) {
	if l.asked.Add(1)%2 == 0 {
		return nil, exchange.ErrAbsent
	}
	return l.Exchange.Frame(to, sp)
}

// A member that refuses half of its requests harms nobody.
func TestLossyMember(t *testing.T) {
	d := newDirectory()
	var nodes []*Node
	for c := range 2 {
		for range 3 {
			nodes = append(nodes, startNodeWith(t, fmt.Sprintf("C%d", c), t.TempDir(), d))
		}
	}
	_, link, content := seedCoded(t, nodes[0], 12<<20, 16)
	var asked atomic.Int64
	nodes[3].prepared = func(s *swarm) { s.form.Exchange = &lossy{s.form.Exchange, &asked} }
	var gets []*Transfer
	var outs []string
	for i, n := range nodes[1:] {
		outs = append(outs, filepath.Join(t.TempDir(), "out"))
		gets = append(gets, mustGet(t, n, link, outs[i]))
	}
	for i, g := range gets {
		mustWait(t, g)
		mustEqual(t, outs[i], content)
		if liars := g.Status().Liars; len(liars) > 0 {
			t.Errorf("%q are named", liars)
		}
	}
	if asked.Load() < 2 {
		t.Error("nobody was refused anything")
	}
}
