package mob

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestSpareLink checks that a piece of a slow peer is requested of a fast one too if the fast link has
// no other use, but not while a piece is unclaimed.
func TestSpareLink(t *testing.T) {
	t.Parallel()
	for _, left := range []int{0, 1} {
		const size = 2 * proto.Cell
		s := New(Config{Self: "n", Cluster: "B", Length: int64(2+left) * size, PieceLength: size, Tuning: DefaultTuning()}, nil)
		now := time.Unix(1, 0)
		asked := 0 // of the fast peer, for the slow one's piece
		step := func(after time.Duration, ev Event) {
			now = now.Add(after)
			for _, a := range s.Step(now, ev) {
				if send, ok := a.(Send); ok && send.Peer == "fast" {
					if m, ok := send.Message.(*proto.Request); ok && m.Span.Piece == 0 {
						asked++
					}
				}
			}
		}
		has := func(i uint32) *proto.Have { return &proto.Have{Have: []proto.Range{{First: i, Count: 1}}} }
		step(0, Learned{})
		step(0, Joined{Node: Node{ID: "fast", Cluster: "A"}})
		step(0, Joined{Node: Node{ID: "slow", Cluster: "C"}})
		step(0, Received{"slow", has(0)})
		step(0, Received{"fast", has(1)})
		for len(s.Joined["fast"].Pipe.Requested()) > 0 {
			step(time.Millisecond, Arrived{"fast", s.Joined["fast"].Pipe.Requested()[0]})
		}
		step(0, Stored{Piece: 1})
		step(200*time.Millisecond, Arrived{"slow", s.Joined["slow"].Pipe.Requested()[0]})
		step(0, Received{"fast", has(0)})
		step(s.Tuning.Queue/2, Tick{})
		if len(s.Joined["slow"].Pipe.Requested()) == 0 || asked > 0 != (left == 0) {
			t.Errorf("with %d pieces left the fast peer was asked %d times", left, asked)
		}
	}
}
