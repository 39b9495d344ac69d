package mob

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestCompleteNodesRest checks that a node without work wakes rarely, until a peer subscribes to
// pieces.
func TestCompleteNodesRest(t *testing.T) {
	const length = 256 << 10
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	all := []proto.Range{{Count: 4}}
	s := New(Config{Self: "m", Cluster: "A", Length: 4 * length, PieceLength: length, Tuning: DefaultTuning()}, all)
	s.Step(now, Joined{Node: Node{ID: "n", Cluster: "A"}, Whole: true})
	wakes := func(span time.Duration) (n int) {
		for end := now.Add(span); now.Before(end); n++ {
			now = now.Add(s.Wake())
			s.Step(now, Received{"n", &proto.Pong{}}) // it is alive
			s.Step(now, Tick{})
		}
		return n
	}
	if n := wakes(30 * time.Second); n > 30 {
		t.Errorf("at rest it wakes %d times in 30 s", n)
	}
	s.Step(now, Joined{Node: Node{ID: "o", Cluster: "B"}})
	s.Step(now, Received{"o", &proto.Want{Pieces: all}})
	if n := wakes(time.Second); n < 9 {
		t.Errorf("after a Want it wakes %d times in a second", n)
	}
	s.Step(now, Received{"o", &proto.Want{}})
	wakes(time.Second)
	if n := wakes(10 * time.Second); n > 10 {
		t.Errorf("after an empty Want it wakes %d times in 10 s", n)
	}
}
