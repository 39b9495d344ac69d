package gossip

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// blocks are those of the generations in these tests.
var blocks = []int{4, 4, 2}

var all = []int{0, 1, 2}

// node is a state under test, and its time.
type node struct {
	*State
	t   *testing.T
	now time.Time
}

func newNode(t *testing.T, id proto.PeerID, s proto.Strategy, have ...int) *node {
	return &node{New(Config{Self: id, Cluster: "A", Blocks: blocks, Have: have, Strategy: s, Seed: 1}), t, time.Unix(1, 0)}
}

func (n *node) do(ev mob.Event) []mob.Action {
	n.now = n.now.Add(time.Millisecond)
	return slices.Clone(n.Step(n.now, ev))
}

func (n *node) join(id proto.PeerID, whole bool) []mob.Action {
	return n.do(mob.Joined{Node: mob.Node{ID: id, Cluster: "A"}, Whole: whole})
}

func (n *node) hear(id proto.PeerID, m proto.Message) []mob.Action {
	return n.do(mob.Received{Peer: id, Message: m})
}

// rest lets time pass.
func (n *node) rest() []mob.Action {
	n.now = n.now.Add(time.Second)
	return n.do(mob.Tick{})
}

// find returns the actions of a kind.
func find[A mob.Action](as []mob.Action) (found []A) {
	for _, a := range as {
		if a, ok := a.(A); ok {
			found = append(found, a)
		}
	}
	return found
}

// said returns the messages of a kind, by receiver.
func said[M proto.Message](as []mob.Action) map[proto.PeerID]M {
	found := map[proto.PeerID]M{}
	for _, a := range find[mob.Send](as) {
		if m, ok := a.Message.(M); ok {
			found[a.Peer] = m
		}
	}
	return found
}

// TestDrawsOnce wants the source to wait until nobody comes any more, and then to hand
// the same permutation to all; and to begin.
func TestDrawsOnce(t *testing.T) {
	s := newNode(t, "b", proto.Sequential, all...)
	if as := find[mob.Finished](s.do(mob.Tick{})); len(as) != 1 {
		t.Error("who is whole from the start has not finished")
	}
	for _, id := range []proto.PeerID{"c", "a", "d"} {
		if as := said[*proto.Permutation](s.join(id, false)); len(as) > 0 {
			t.Fatal("a permutation before all have come")
		}
	}
	as := s.rest()
	ps := said[*proto.Permutation](as)
	want := &proto.Permutation{Version: 1, Seed: 2, Members: []proto.PeerID{"a", "b", "c", "d"}, Since: make([]uint32, 4)}
	if len(ps) != 3 || !reflect.DeepEqual(ps["a"], want) || ps["a"] != ps["d"] {
		t.Fatalf("it handed out %+v", ps)
	}
	if pushed := find[mob.Push](as); len(pushed) != 1 || pushed[0].Generation != 0 {
		t.Errorf("then it does %+v", as)
	}
	if as := said[*proto.Permutation](s.rest()); len(as) > 0 {
		t.Error("another permutation of the same members")
	}
	s.do(mob.Left{Peer: "d"})
	if p := said[*proto.Permutation](s.rest())["a"]; p == nil || len(p.Members) != 3 || p.Version != 2 {
		t.Errorf("after one has left: %+v", p)
	}
}

// TestLateMember wants who comes when a generation is over to be in time for the next
// only, and the others to stay in time.
func TestLateMember(t *testing.T) {
	s := newNode(t, "b", proto.Sequential, all...)
	s.join("a", false)
	s.rest()
	s.hear("a", &proto.Decoded{Generations: []proto.Range{{First: 0, Count: 1}}})
	s.join("c", false)
	if p := said[*proto.Permutation](s.rest())["c"]; p == nil || !slices.Equal(p.Since, []uint32{0, 0, 1}) {
		t.Errorf("handed out %+v", p)
	}
}

// TestWhoDraws wants the least of those that have everything to draw, with a version
// that all take.
func TestWhoDraws(t *testing.T) {
	n := newNode(t, "b", proto.Sequential)
	n.join("c", true)
	n.hear("c", &proto.Permutation{Version: 7, Members: []proto.PeerID{"b", "c"}, Since: []uint32{0, 0}})
	for g := range blocks {
		n.do(mob.Decoded{Generation: g})
	}
	n.join("d", false)
	if p := said[*proto.Permutation](n.rest())["d"]; p == nil || p.Version != 8 {
		t.Errorf("who has the least id handed out %+v", p)
	}
	n.join("a", true)
	if as := said[*proto.Permutation](n.rest()); len(as) > 0 {
		t.Errorf("beside one with a lesser id it handed out %+v", as)
	}
	n.do(mob.Left{Peer: "a"})
	n.do(mob.Left{Peer: "d"})
	if p := said[*proto.Permutation](n.rest())["c"]; p == nil || p.Version != 9 {
		t.Errorf("after that has left it handed out %+v", p)
	}
}

// TestBadWords wants peers to be dropped that say what cannot be, and all else to go on.
func TestBadWords(t *testing.T) {
	for name, m := range map[string]proto.Message{
		"permutation without its author": &proto.Permutation{Version: 2, Members: []proto.PeerID{"b", "c"}, Since: []uint32{0, 0}},
		"permutation with a generation":  &proto.Permutation{Version: 2, Members: []proto.PeerID{"a", "b"}, Since: []uint32{0, 3}},
		"generations that are not there": &proto.Decoded{Generations: []proto.Range{{First: 2, Count: 2}}},
		"a map of no generation":         &proto.Holds{Generation: 3, Blocks: []byte{1}},
		"a map of the wrong length":      &proto.Holds{Generation: 0, Blocks: []byte{1, 2}},
		"a far generation":               &proto.Decoded{Generations: []proto.Range{{First: proto.MaxPieces - 1, Count: 1}}},
	} {
		n := newNode(t, "b", proto.RandomBlock)
		n.join("a", true)
		if as := find[mob.Drop](n.hear("a", m)); len(as) != 1 || as[0].Peer != "a" || as[0].Code != proto.CodeProtocol {
			t.Errorf("%s: %+v", name, as)
		}
		if as := n.hear("a", m); len(as) > 0 {
			t.Errorf("%s, of who has left: %+v", name, as)
		}
	}
	n := newNode(t, "b", proto.Sequential)
	n.join("a", false)
	p := &proto.Permutation{Version: 2, Members: []proto.PeerID{"a", "b"}, Since: []uint32{0, 0}}
	if as := find[mob.Drop](n.hear("a", p)); len(as) != 1 {
		t.Errorf("permutation of who has not everything: %+v", as)
	}
	if as := find[mob.Drop](n.do(mob.Failed{Piece: 0, Sources: []proto.PeerID{"a"}})); len(as) > 0 {
		t.Errorf("dropped twice: %+v", as)
	}
	n.join("a", true)
	if as := find[mob.Drop](n.do(mob.Failed{Piece: 0, Sources: []proto.PeerID{"a", "x"}})); len(as) != 1 {
		t.Errorf("who sent what is no block: %+v", as)
	}
}

// TestPermutationsThatDoNotHold wants an older one, one without the node, and one with
// members that nobody knows to do no harm.
func TestPermutationsThatDoNotHold(t *testing.T) {
	n := newNode(t, "b", proto.Sequential, 0)
	n.join("a", true)
	n.join("c", false)
	n.hear("a", &proto.Permutation{Version: 5, Seed: 1, Members: []proto.PeerID{"a", "b", "c", "nobody"}, Since: make([]uint32, 4)})
	if n.drawn.version != 5 {
		t.Fatalf("version %d holds", n.drawn.version)
	}
	n.hear("a", &proto.Permutation{Version: 4, Members: []proto.PeerID{"a", "b"}, Since: make([]uint32, 2)})
	n.hear("a", &proto.Permutation{Version: 6, Members: []proto.PeerID{"a", "c"}, Since: make([]uint32, 2)})
	if n.drawn.version != 5 || len(n.drawn.members) != 4 {
		t.Errorf("%+v holds", n.drawn)
	}
	if as := find[mob.Push](n.rest()); len(as) > 1 || len(as) == 1 && as[0].Peer != "c" {
		t.Errorf("it sends %+v", as)
	}
}

// TestOneCluster wants nodes of other clusters neither dialled nor kept.
func TestOneCluster(t *testing.T) {
	n := newNode(t, "b", proto.Sequential)
	as := n.do(mob.Learned{Nodes: []mob.Node{{ID: "a", Cluster: "A"}, {ID: "z", Cluster: "Z"}, {ID: "b", Cluster: "A"}, {ID: "g", Cluster: "A", Guest: true}}})
	if !reflect.DeepEqual(as, []mob.Action{mob.Dial{Peer: "a"}}) {
		t.Errorf("it does %+v", as)
	}
	as = n.do(mob.Joined{Node: mob.Node{ID: "z", Cluster: "Z"}})
	if d := find[mob.Drop](as); len(as) != 1 || len(d) != 1 || d[0].Code != proto.CodeExcluded {
		t.Errorf("it does %+v", as)
	}
}

// TestMeets wants newcomers told of those who are there, members that cannot be reached
// dialled again, ever later, and forgotten at last.
func TestMeets(t *testing.T) {
	n := newNode(t, "b", proto.Sequential, 1)
	as := n.join("a", false)
	if m := said[*proto.Decoded](as)["a"]; m == nil || !reflect.DeepEqual(m.Generations, []proto.Range{{First: 1, Count: 1}}) {
		t.Errorf("it tells %+v", m)
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

// TestPlainBlocks wants maps of what came, as others read them, and pushes of plain
// blocks that they lack.
func TestPlainBlocks(t *testing.T) {
	a, b := newNode(t, "a", proto.RandomBlock, all...), newNode(t, "b", proto.RandomBlock)
	a.join("b", false)
	b.join("a", true)
	b.hear("a", said[*proto.Permutation](a.rest())["b"])
	var holds *proto.Holds
	for _, j := range []int{2, 3} {
		as := b.do(mob.Gathered{Peer: "a", Generation: 0, Block: j})
		if said[*proto.Taken](as)["a"] == nil {
			t.Errorf("block %d is not confirmed: %+v", j, as)
		}
		holds = said[*proto.Holds](as)["a"]
	}
	if holds == nil || holds.Generation != 0 || fmt.Sprintf("%b", holds.Blocks[0]) != "1100" {
		t.Fatalf("it holds %+v", holds)
	}
	a.hear("b", holds)
	a.do(mob.Sent{Peer: "b"})
	for range 20 {
		for _, p := range find[mob.Push](a.hear("b", &proto.Taken{})) {
			if p.Block != 0 && p.Block != 1 {
				t.Fatalf("it sends block %d, which the other has", p.Block)
			}
		}
		a.do(mob.Sent{Peer: "b"})
	}
	if h := said[*proto.Holds](b.do(mob.Polluted{Generation: 0}))["a"]; h == nil || h.Blocks[0] != 0 {
		t.Errorf("after all was thrown away it holds %+v", h)
	}
}

// TestFinishes wants word of each generation, the end once, and a status that says how
// far it is.
func TestFinishes(t *testing.T) {
	n := newNode(t, "b", proto.Overlap2)
	n.join("a", true)
	for g := range blocks {
		if st := n.Status(); st.Have != g || st.Total != 3 || st.Available != 3-g || st.Size != 2 || st.Rank != 1 || st.Peers[0].Have != 3 {
			t.Errorf("status %+v", st)
		}
		as := n.do(mob.Decoded{Generation: g})
		if m := said[*proto.Decoded](as)["a"]; m == nil || m.Generations[0].First != uint32(g) {
			t.Errorf("it tells %+v", m)
		}
		if (len(find[mob.Finished](as)) == 1) != (g == 2) {
			t.Errorf("generation %d: %+v", g, as)
		}
	}
	if as := n.hear("a", &proto.Ping{Nonce: 4}); said[*proto.Pong](as)["a"].Nonce != 4 {
		t.Errorf("to a ping it says %+v", as)
	}
	if n.Wake() < time.Second {
		t.Error("it does not rest when all is done")
	}
}
