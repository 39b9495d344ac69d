package mob

import (
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// From far away a round trip is saved at each peer that was whole from the start.
func TestWholePeerIsAskedBeforeItTells(t *testing.T) {
	for _, whole := range []bool{true, false} {
		s := New(Config{Self: "n", Cluster: "B", Length: 4 << 20, PieceLength: 1 << 20, Tuning: DefaultTuning()}, nil)
		now := time.Unix(1, 0)
		s.Step(now, Learned{})
		got := s.Step(now, Joined{Node: Node{ID: "a", Cluster: "A"}, Whole: whole})
		asked := slices.ContainsFunc(got, func(a Action) bool {
			send, ok := a.(Send)
			if !ok {
				return false
			}
			_, ok = send.Message.(*proto.Request)
			return ok && send.Peer == "a"
		})
		if asked != whole {
			t.Errorf("whole %v, asked at once %v", whole, asked)
		}
	}
}
