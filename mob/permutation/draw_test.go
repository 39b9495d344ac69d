package permutation

import (
	"reflect"
	"slices"
	"testing"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// blocks are those of the generations in most tests, and all the generations.
var (
	blocks = []int{4, 4, 2}
	all    = []int{0, 1, 2}
)

// TestDrawsOnce wants the source to draw when no more members join, to send the same
// permutations to all, and to begin.
func TestDrawsOnce(t *testing.T) {
	s := newNode(t, Config{Self: "b", Blocks: blocks, Have: all})
	if as := find[mob.Finished](s.do(mob.Tick{})); len(as) != 1 {
		t.Error("a node that has all from the start has not finished")
	}
	for _, id := range []proto.PeerID{"c", "a", "d"} {
		if as := sent[*proto.Permutation](s.join(id, false)); len(as) > 0 {
			t.Fatal("a permutation before all have joined")
		}
	}
	as := s.rest()
	ps := sent[*proto.Permutation](as)
	want := &proto.Permutation{Version: 1, Seed: 2, Members: []proto.PeerID{"a", "b", "c", "d"}, Since: make([]uint32, 4)}
	if len(ps) != 3 || !reflect.DeepEqual(ps["a"], want) || ps["a"] != ps["d"] {
		t.Fatalf("it sends %+v", ps)
	}
	if p := s.pushed(as); p.Generation != 0 {
		t.Errorf("it pushes %+v", p)
	}
	if as := sent[*proto.Permutation](s.rest()); len(as) > 0 {
		t.Error("another permutation of the same members")
	}
	s.do(mob.Left{Peer: "d"})
	if p := sent[*proto.Permutation](s.rest())["a"]; p == nil || len(p.Members) != 3 || p.Version != 2 {
		t.Errorf("after a member has left: %+v", p)
	}
}

// TestLateMember wants a member that joins when a generation is complete to be waited for
// from the next one on, and the others as before.
func TestLateMember(t *testing.T) {
	s := newNode(t, Config{Self: "b", Blocks: blocks, Have: all})
	s.join("a", false)
	s.rest()
	s.complete("a", 0)
	s.join("c", false)
	if p := sent[*proto.Permutation](s.rest())["c"]; p == nil || !slices.Equal(p.Since, []uint32{0, 0, 1}) {
		t.Errorf("it sends %+v", p)
	}
}

// TestDrawer wants the node with the least id of those that have all generations to draw,
// with a version that all others take.
func TestDrawer(t *testing.T) {
	n := newNode(t, Config{Self: "b", Blocks: blocks})
	n.join("c", true)
	n.hear("c", &proto.Permutation{Version: 7, Members: []proto.PeerID{"b", "c"}, Since: []uint32{0, 0}})
	for g := range blocks {
		n.do(mob.Decoded{Generation: g})
	}
	n.join("d", false)
	if p := sent[*proto.Permutation](n.rest())["d"]; p == nil || p.Version != 8 {
		t.Errorf("with the least id it sends %+v", p)
	}
	n.join("a", true)
	if as := sent[*proto.Permutation](n.rest()); len(as) > 0 {
		t.Errorf("beside one with a lesser id it sends %+v", as)
	}
	n.do(mob.Left{Peer: "a"})
	n.do(mob.Left{Peer: "d"})
	if p := sent[*proto.Permutation](n.rest())["c"]; p == nil || p.Version != 9 {
		t.Errorf("after that has left it sends %+v", p)
	}
}

// TestDrawerLosesGeneration checks that the node draws again for a member that joined while another one was to draw, if that one
// turns out to need a generation.
func TestDrawerLosesGeneration(t *testing.T) {
	s := newNode(t, Config{Self: "b", Blocks: blocks, Have: all})
	s.join("a", false)
	s.rest()
	for g := range blocks {
		s.complete("a", g)
	}
	s.join("c", false)
	if p := sent[*proto.Permutation](s.rest())["c"]; p != nil {
		t.Errorf("beside one with a lesser id it sends %+v", p)
	}
	s.hear("a", &proto.Decoded{Lost: only(1)})
	if p := sent[*proto.Permutation](s.rest())["c"]; p == nil || len(p.Members) != 3 {
		t.Errorf("it sends %+v", p)
	}
}

// TestMemberReturns checks that a member whose session is replaced gets the permutations again, which the old session may have lost:
// they are not drawn again for the same members.
func TestMemberReturns(t *testing.T) {
	s := newNode(t, Config{Self: "b", Blocks: blocks, Have: all})
	s.join("a", false)
	want := sent[*proto.Permutation](s.rest())["a"]
	s.do(mob.Left{Peer: "a"})
	if p := sent[*proto.Permutation](s.join("a", false))["a"]; want == nil || !reflect.DeepEqual(p, want) {
		t.Errorf("it sends %+v, want %+v", p, want)
	}
	if p := sent[*proto.Permutation](s.rest())["a"]; p != nil {
		t.Errorf("it draws %+v", p)
	}
}

// TestIgnoredPermutations wants an older one, and one without the node, to be ignored, and
// unknown members to be skipped.
func TestIgnoredPermutations(t *testing.T) {
	n := newNode(t, Config{Self: "b", Blocks: blocks, Have: []int{0}})
	n.join("a", true)
	n.join("c", false)
	n.hear("a", &proto.Permutation{Version: 5, Seed: 1, Members: []proto.PeerID{"a", "b", "c", "unknown"}, Since: make([]uint32, 4)})
	if n.drawn.Version != 5 {
		t.Fatalf("version %d is in force", n.drawn.Version)
	}
	n.hear("a", &proto.Permutation{Version: 4, Members: []proto.PeerID{"a", "b"}, Since: make([]uint32, 2)})
	n.hear("a", &proto.Permutation{Version: 6, Members: []proto.PeerID{"a", "c"}, Since: make([]uint32, 2)})
	if n.drawn.Version != 5 || len(n.topology.Members()) != 4 {
		t.Errorf("%+v is in force", n.drawn)
	}
	if as := find[mob.Push](n.rest()); len(as) > 1 || len(as) == 1 && as[0].Peer != "c" {
		t.Errorf("it pushes %+v", as)
	}
}
