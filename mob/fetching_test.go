package mob

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/mob/session"
	"github.com/mobgrid/mob/proto"
)

// TestTooLate checks that no piece is started on a slow link when the cluster gets the rest earlier,
// and one is when no more pieces come.
func TestTooLate(t *testing.T) {
	s, a, now := fetching(time.Second / 2)
	s.Tuning.Stall = time.Minute // n sends nothing
	if s.TooLate(a) {
		t.Error("too late before anything has come")
	}
	for i := range 98 { // a piece each 20 ms
		if s.TooLate(a) != (i > 75) && (i < 70 || i > 80) {
			t.Errorf("after %d pieces: too late is %v", i, s.TooLate(a))
		}
		now = now.Add(20 * time.Millisecond)
		s.Step(now, Received{"n", &proto.Have{Have: []proto.Range{{First: uint32(i), Count: 1}}}})
	}
	s.Step(now.Add(200*time.Millisecond), Tick{})
	if !s.TooLate(a) {
		t.Error("not too late with two pieces left, and a pause of 200 ms")
	}
	s.Step(now.Add(300*time.Millisecond), Tick{})
	if s.TooLate(a) {
		t.Error("too late, though no other takes the last two pieces")
	}
}

// fetching returns a node of cluster B that needs 100 pieces. A piece from its peer a of another
// cluster took the given time, and n is a member of B.
func fetching(took time.Duration) (s *State, a *session.Peer, now time.Time) {
	const length = 256 << 10
	now = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	s = New(Config{Self: "m", Cluster: "B", Length: 100 * length, PieceLength: length, Tuning: DefaultTuning()}, nil)
	s.Step(now, Joined{Node: Node{ID: "n", Cluster: "B"}})
	s.Step(now, Joined{Node: Node{ID: "a", Cluster: "A"}})
	a = s.Joined["a"]
	a.Pipe.Start(now.Add(-took))
	a.Pipe.Meter.Add(now, length)
	return s, a, now
}
