package mob

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestExternalPeersAreForgotten has external peers come and go, each in a cluster of its own. They
// are not dialled, nobody is told of them, and nothing is left of them.
func TestExternalPeersAreForgotten(t *testing.T) {
	s := New(Config{Self: "self", Cluster: "A", Length: 64 << 20, PieceLength: 1 << 20, Tuning: DefaultTuning()}, nil)
	now := time.Unix(0, 0)
	step := func(ev Event) {
		now = now.Add(time.Second)
		for _, a := range s.Step(now, ev) {
			switch a := a.(type) {
			case Dial:
				t.Fatalf("%q is dialled", a.Peer)
			case Introduce:
				for _, n := range a.Members {
					if n.External {
						t.Fatalf("%q is told of %q", a.Peer, n.ID)
					}
				}
			}
		}
	}
	step(Joined{Node: Node{ID: "node", Cluster: "B"}})
	for k := range 50 {
		id := proto.PeerID(fmt.Sprint("external", k))
		step(Joined{Node: Node{ID: id, Cluster: string(id), External: true}})
		step(Received{Peer: id, Message: &proto.Want{Pieces: []proto.Range{{Count: 64}}}})
		step(Received{Peer: id, Message: &proto.Have{Have: []proto.Range{{Count: 64}}}})
		step(Received{Peer: "node", Message: &proto.Have{}}) // it lives
		if k%2 == 0 {
			step(Left{Peer: id})
		} else {
			for range s.t.Strikes {
				step(Failed{Piece: 1, Sources: []proto.PeerID{id}})
			}
		}
	}
	if len(s.byID) != 1 || len(s.nodes) != 1 || len(s.others) != 1 || len(s.links) != 1 || len(s.remote) != 1 {
		t.Errorf("left are %d nodes of %d clusters, of which %d others, with %d links and %d sets of pieces",
			len(s.byID), len(s.nodes), len(s.others), len(s.links), len(s.remote))
	}
	for i, n := range s.rarity {
		if n != 0 {
			t.Fatalf("piece %d is in %d clusters", i, n)
		}
	}
}

// TestWholePeerNeedNotAnnounce has a peer join that has everything: it is requested of at once, a
// round trip earlier than others.
func TestWholePeerNeedNotAnnounce(t *testing.T) {
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
			t.Errorf("whole %v, requested at once %v", whole, asked)
		}
	}
}

// TestReunited has a node lose everybody, and a peer of another cluster come back first: it must
// dial its own cluster and wait for it a while, before it requests what members may have.
func TestReunited(t *testing.T) {
	s := New(Config{Self: "n", Cluster: "B", Length: 4 << 20, PieceLength: 1 << 20, Tuning: DefaultTuning()}, nil)
	now := time.Unix(1, 0)
	var dialled []proto.PeerID
	requested := map[proto.PeerID]int{}
	step := func(ev Event) {
		now = now.Add(10 * time.Millisecond)
		for _, a := range s.Step(now, ev) {
			switch a := a.(type) {
			case Dial:
				dialled = append(dialled, a.Peer)
			case Send:
				if _, ok := a.Message.(*proto.Request); ok {
					requested[a.Peer]++
				}
			}
		}
	}
	member := Node{ID: "b", Cluster: "B"}
	remote := Joined{Node: Node{ID: "a", Cluster: "A"}, Whole: true}
	step(Learned{Nodes: []Node{member}})
	step(Joined{Node: member})
	step(remote)
	step(Left{Peer: "b"})
	step(Left{Peer: "a"})
	for range 3 {
		step(Unreachable{Peer: "b"})
	}
	dialled = nil
	clear(requested)
	step(remote)
	for range 5 {
		step(Tick{})
	}
	if len(requested) > 0 || !slices.Contains(dialled, "b") {
		t.Errorf("requested of %v, dialled %q", requested, dialled)
	}
	step(Unreachable{Peer: "b"})
	step(Tick{})
	if requested["a"] == 0 {
		t.Error("nothing is requested once the members are known to be away")
	}
}
