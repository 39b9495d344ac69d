package permutation

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// TestOneCluster wants nodes of other clusters neither dialled nor kept.
func TestOneCluster(t *testing.T) {
	n := newNode(t, Config{Self: "b", Blocks: blocks})
	as := n.do(mob.Learned{Nodes: []mob.Node{{ID: "a", Cluster: "A/r1"}, {ID: "z", Cluster: "Z"}, {ID: "b", Cluster: "A"}, {ID: "g", Cluster: "A", External: true}}})
	if !reflect.DeepEqual(as, []mob.Action{mob.Dial{Peer: "a"}}) {
		t.Errorf("it does %s", describe(as))
	}
	as = n.do(mob.Joined{Node: mob.Node{ID: "z", Cluster: "Z"}})
	if d := find[mob.Drop](as); len(as) != 1 || len(d) != 1 || d[0].Code != proto.CodeExcluded {
		t.Errorf("it does %s", describe(as))
	}
}

// TestMembers wants newcomers introduced to the members, and members that cannot be reached
// dialled again, with backoff, and forgotten at last.
func TestMembers(t *testing.T) {
	n := newNode(t, Config{Self: "b", Blocks: blocks, Have: []int{1}})
	as := n.join("a", false)
	if m := sent[*proto.Decoded](as)["a"]; m == nil || !reflect.DeepEqual(m.Generations, only(1)) {
		t.Errorf("it announces %+v", m)
	}
	if in := find[mob.Introduce](n.join("c", false)); len(in) != 1 || in[0].Peer != "c" || len(in[0].Members) != 1 || in[0].Members[0].ID != "a" {
		t.Errorf("it introduces %+v", in)
	}
	n.do(mob.Learned{Nodes: []mob.Node{{ID: "d", Cluster: "A"}}})
	dials := 1
	for range 1000 {
		n.do(mob.Unreachable{Peer: "d"})
		for range int(maxRetry/time.Second) + 1 {
			dials += len(find[mob.Dial](n.rest()))
		}
	}
	if dials != maxFails+1 {
		t.Errorf("dialled %d times", dials)
	}
}

// TestMemberReturnsDuringDecoding checks that a peer whose session starts while a generation is decoded learns that the node
// needs no more of it, which is not announced again when it is decoded.
func TestMemberReturnsDuringDecoding(t *testing.T) {
	n := meet(t, 2, Config{Blocks: []int{4, 4, 4}, Have: []int{2}})
	const id = "0001"
	n.do(mob.Filled{Generation: 0})
	n.do(mob.Left{Peer: id})
	want := []proto.Range{{First: 0, Count: 1}, {First: 2, Count: 1}}
	if m := sent[*proto.Decoded](n.join(id, false))[id]; m == nil || !reflect.DeepEqual(m.Generations, want) {
		t.Errorf("it announces %+v, want %v", m, want)
	}
	if m := sent[*proto.Decoded](n.do(mob.Decoded{Generation: 0}))[id]; m != nil {
		t.Errorf("once it is decoded it announces %+v", m)
	}
}

// TestInventedMembers wants a member that joins to have a place, however many were only told of.
func TestInventedMembers(t *testing.T) {
	n := newNode(t, Config{Self: "b", Blocks: blocks})
	var nodes []mob.Node
	for i := range 2 * proto.MaxMembers {
		nodes = append(nodes, mob.Node{ID: proto.PeerID(fmt.Sprint("invented", i)), Cluster: "A"})
	}
	n.do(mob.Learned{Nodes: nodes, Hearsay: true})
	for _, id := range []proto.PeerID{"a", "c", "d"} {
		if d := find[mob.Drop](n.join(id, false)); len(d) > 0 {
			t.Errorf("%s is refused: %s", id, d[0].Why)
		}
	}
}
