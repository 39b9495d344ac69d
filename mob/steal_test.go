package mob

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// A node that is silent for more than a second is slow at its pieces; of a guest, which
// answers in bursts, that says nothing yet.
func TestSlow(t *testing.T) {
	t.Parallel()
	for _, guest := range []bool{false, true} {
		s := New(Config{Self: "n", Cluster: "B", Length: 4 * pulsePiece, PieceLength: pulsePiece, Tuning: DefaultTuning()}, nil)
		now := time.Unix(1, 0)
		for _, ev := range []Event{
			Learned{},
			Joined{Node: Node{ID: "g", Cluster: "A", External: guest}},
			Received{"g", &proto.Have{Have: []proto.Range{{Count: 4}}}},
		} {
			s.Step(now, ev)
		}
		s.now = now.Add(1200 * time.Millisecond)
		if len(s.fetches) == 0 || guest == (len(s.slowFetches()) > 0) {
			t.Errorf("guest %v: %d pieces on their way, %d of them slow", guest, len(s.fetches), len(s.slowFetches()))
		}
	}
}
