package mob

import (
	"fmt"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestInventedMembers has a tracker tell of a new member of the node's cluster every second, and
// the dial of each takes long. The node fetches all the same, and soon.
func TestInventedMembers(t *testing.T) {
	const pieces = 64
	s := New(Config{Self: "n", Cluster: "B", Length: pieces << 14, PieceLength: 1 << 14, Tuning: DefaultTuning()}, nil)
	start := time.Unix(1, 0)
	now := start
	var events []Event // that follow from actions at once
	dials := map[proto.PeerID]time.Time{}
	done := false
	step := func(ev Event) {
		for _, a := range s.Step(now, ev) {
			switch a := a.(type) {
			case Send:
				if r, ok := a.Message.(*proto.Request); ok {
					events = append(events, Arrived{Peer: a.Peer, Span: r.Span}, Stored{Piece: int(r.Piece)})
				} else if p, ok := a.Message.(*proto.Ping); ok {
					events = append(events, Received{Peer: a.Peer, Message: &proto.Pong{Nonce: p.Nonce}})
				}
			case Dial:
				dials[a.Peer] = now.Add(8 * time.Second)
			case Finished:
				done = true
			}
		}
	}
	step(Joined{Node: Node{ID: "a", Cluster: "A"}, Whole: true})
	for k := range 3000 {
		now = now.Add(100 * time.Millisecond)
		if k%10 == 0 {
			step(Learned{Nodes: []Node{{ID: proto.PeerID(fmt.Sprint("invented", k)), Cluster: "B"}}})
		}
		for id, end := range dials {
			if !now.Before(end) {
				delete(dials, id)
				events = append(events, Unreachable{Peer: id})
			}
		}
		for len(events) > 0 {
			ev := events[0]
			events = events[1:]
			step(ev)
		}
		step(Tick{})
		if done {
			t.Logf("whole after %v", now.Sub(start))
			if limit := 2 * (s.t.Settle + 2*s.t.Stall); now.Sub(start) > limit {
				t.Errorf("want it whole within %v", limit)
			}
			return
		}
	}
	t.Errorf("after %v it has %d of %d pieces", now.Sub(start), s.have.Len(), pieces)
}
