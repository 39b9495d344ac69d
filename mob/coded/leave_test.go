package coded

import (
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// TestBlockIsReplaced checks that another block is requested of another peer where a peer does not send the last block of a
// generation, which no other peer has: it leaves, does not answer, or sends a block that is rejected.
func TestBlockIsReplaced(t *testing.T) {
	for _, ev := range []mob.Event{mob.Left{Peer: "m"}, mob.Failed{Piece: 4}, mob.Tick{}} {
		n := newNode()
		n.steps(mob.Stored{Piece: 0}, mob.Stored{Piece: 1}, mob.Stored{Piece: 2},
			mob.Joined{Node: mob.Node{ID: "m", Cluster: "B"}}, mob.Joined{Node: mob.Node{ID: "p", Cluster: "B"}},
			mob.Received{Peer: "m", Message: &proto.Have{Have: one(4)}}, mob.Received{Peer: "p", Message: &proto.Have{Have: one(6)}})
		if n.k.Fetches[4] == nil || n.k.Fetches[6] != nil {
			t.Fatal("the block of m is not the last one to be requested")
		}
		n.now = n.now.Add(n.Tuning.Stall)
		if did := n.steps(ev); !sends(did, "p", func(m *proto.Request) bool { return m.Piece == 6 }) {
			t.Errorf("%T: no other block is requested", ev)
		}
	}
}

// TestDependentBlockIsReplaced gets all blocks but the first from members of the cluster. The last block of the last generation is a
// combination of the earlier ones: a further block is requested over the WAN, although the cluster has enough.
func TestDependentBlockIsReplaced(t *testing.T) {
	n := newNode()
	var did []mob.Action
	step := func(ev mob.Event) { did = append(did, n.Step(n.now, ev)...) }
	announce := func(generation int) {
		for k, id := range []proto.PeerID{"m", "p"} {
			first := uint32(generation*n.k.Names + 4 + 2*k)
			step(mob.Received{Peer: id, Message: &proto.Have{Have: []proto.Range{{First: first, Count: 2}}}})
		}
	}
	step(mob.Learned{Nodes: []mob.Node{{ID: "a", Cluster: "A"}}})
	step(mob.Joined{Node: mob.Node{ID: "a", Cluster: "A"}, Whole: true})
	came := map[int][]uint32{} // by generation
	for range 10 {
		for ; len(did) > 0; did = did[1:] {
			send, _ := did[0].(mob.Send)
			m, ok := send.Message.(*proto.Request)
			if !ok || slices.Contains(came[int(m.Piece)/n.k.Names], m.Piece) {
				continue
			}
			g := int(m.Piece) / n.k.Names
			if len(came[3]) == 4 {
				return
			}
			n.now = n.now.Add(100 * time.Millisecond)
			step(mob.Arrived{Peer: send.Peer, Span: m.Span})
			switch came[g] = append(came[g], m.Piece); {
			case len(came[g]) < 4:
				step(mob.Stored{Piece: int(m.Piece)})
			case g < 3:
				step(mob.Decoded{Generation: g})
			default:
				step(mob.Useless{Peer: send.Peer, Piece: int(m.Piece)})
			}
			switch {
			case n.Joined["m"] == nil:
				step(mob.Joined{Node: mob.Node{ID: "m", Cluster: "B"}})
				step(mob.Joined{Node: mob.Node{ID: "p", Cluster: "B"}})
				announce(0)
				announce(1)
			case len(came[g]) == 4 && g < 2:
				announce(g + 2)
			}
		}
		did = n.steps()
	}
	t.Errorf("no further block is requested: %v, %d missing", came, n.k.Site().Inflow.Missing)
}
