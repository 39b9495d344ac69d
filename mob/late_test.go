package mob

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestTooLate wants a slow link to be left alone when the cluster has the rest
// sooner, and to be used after all when no more comes.
func TestTooLate(t *testing.T) {
	s, a, now := fetching(time.Second / 2)
	if s.tooLate(a) {
		t.Error("too late before anything has come")
	}
	for i := range 98 { // a piece each 20 ms
		if s.tooLate(a) != (i > 75) && (i < 70 || i > 80) {
			t.Errorf("after %d pieces: too late is %v", i, s.tooLate(a))
		}
		now = now.Add(20 * time.Millisecond)
		s.Step(now, Received{"n", &proto.Have{Have: []proto.Range{{First: uint32(i), Count: 1}}}})
	}
	s.Step(now.Add(200*time.Millisecond), Tick{})
	if !s.tooLate(a) {
		t.Error("not too late with two pieces left, and a pause of 200 ms")
	}
	s.Step(now.Add(300*time.Millisecond), Tick{})
	if s.tooLate(a) {
		t.Error("too late, though no other takes the last two pieces")
	}
}

// fetching is a node of B of whose 100 pieces the peer a of another cluster sends one in that
// time, with a member n of its own beside it.
func fetching(took time.Duration) (s *State, a *peer, now time.Time) {
	const length = 256 << 10
	now = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	s = New(Config{Self: "m", Cluster: "B", Length: 100 * length, PieceLength: length, Tuning: DefaultTuning()}, nil)
	s.Step(now, Joined{Node: Node{ID: "n", Cluster: "B"}})
	s.Step(now, Joined{Node: Node{ID: "a", Cluster: "A"}})
	a = s.joined["a"]
	a.meter.start(now.Add(-took))
	a.meter.add(now, length)
	return s, a, now
}
