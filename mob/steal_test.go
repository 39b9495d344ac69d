package mob

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestSlowFetches checks that pieces count as slow at a peer that sends nothing for more than a
// second, unless it is external and answers in bursts.
func TestSlowFetches(t *testing.T) {
	t.Parallel()
	for _, external := range []bool{false, true} {
		s := New(Config{Self: "n", Cluster: "B", Length: 4 * pulsePiece, PieceLength: pulsePiece, Tuning: DefaultTuning()}, nil)
		now := time.Unix(1, 0)
		for _, ev := range []Event{
			Learned{},
			Joined{Node: Node{ID: "g", Cluster: "A", External: external}},
			Received{"g", &proto.Have{Have: []proto.Range{{Count: 4}}}},
		} {
			s.Step(now, ev)
		}
		s.Now = now.Add(1200 * time.Millisecond)
		if len(s.Fetches) == 0 || external == (len(s.Slow(s.Site())) > 0) {
			t.Errorf("external %v: %d pieces in progress, %d of them slow", external, len(s.Fetches), len(s.Slow(s.Site())))
		}
	}
}
