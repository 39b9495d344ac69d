package permutation

import (
	"fmt"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// TestMaps wants maps of plain blocks that peers can read, and pushes of blocks that the
// peer lacks by its map.
func TestMaps(t *testing.T) {
	a := newNode(t, Config{Self: "a", Blocks: blocks, Have: all, Strategy: proto.RandomBlock})
	b := newNode(t, Config{Self: "b", Blocks: blocks, Strategy: proto.RandomBlock})
	a.join("b", false)
	b.join("a", true)
	b.hear("a", sent[*proto.Permutation](a.rest())["b"])
	var holds *proto.Holds
	for _, j := range []int{2, 3} {
		as := b.do(mob.Gathered{Peer: "a", Generation: 0, Block: j})
		if sent[*proto.Taken](as)["a"] == nil {
			t.Errorf("block %d is not confirmed: %s", j, describe(as))
		}
		holds = sent[*proto.Holds](as)["a"]
	}
	if holds == nil || holds.Generation != 0 || fmt.Sprintf("%b", holds.Blocks[0]) != "1100" {
		t.Fatalf("it has %+v", holds)
	}
	a.hear("b", holds)
	a.do(mob.Sent{Peer: "b"})
	for range 20 {
		for _, p := range find[mob.Push](a.hear("b", &proto.Taken{})) {
			if p.Block != 0 && p.Block != 1 {
				t.Fatalf("it pushes block %d, which the peer has", p.Block)
			}
		}
		a.do(mob.Sent{Peer: "b"})
	}
	if h := sent[*proto.Holds](b.do(mob.Polluted{Generation: 0}))["a"]; h == nil || h.Blocks[0] != 0 {
		t.Errorf("after its blocks were dropped it has %+v", h)
	}
}

// TestMapEvery wants a map after every second block.
func TestMapEvery(t *testing.T) {
	const k = 70
	n := meet(t, 2, Config{Blocks: []int{k}, Strategy: proto.RandomBlock})
	maps := 0
	for i := range k - 1 {
		if m := sent[*proto.Holds](n.do(mob.Gathered{Peer: "0001", Block: i}))["0001"]; m != nil {
			maps++
		}
	}
	if maps != (k-1)/2 {
		t.Errorf("%d maps after %d blocks", maps, k-1)
	}
}

// TestFinishes wants an announcement of each generation, the end once, and a status with
// the progress.
func TestFinishes(t *testing.T) {
	n := newNode(t, Config{Self: "b", Blocks: blocks, Strategy: proto.Overlap2})
	n.join("a", true)
	for g := range blocks {
		if st := n.Status(); st.Have != g || st.Total != 3 || st.Available != 3-g || st.Size != 2 || st.Rank != 1 || st.Peers[0].Have != 3 {
			t.Errorf("status %+v", st)
		}
		as := n.do(mob.Decoded{Generation: g})
		if m := sent[*proto.Decoded](as)["a"]; m == nil || m.Generations[0].First != uint32(g) {
			t.Errorf("it announces %+v", m)
		}
		if (len(find[mob.Finished](as)) == 1) != (g == 2) {
			t.Errorf("generation %d: %s", g, describe(as))
		}
		if as := n.do(mob.Decoded{Generation: g}); len(as) > 0 {
			t.Errorf("generation %d again: %s", g, describe(as))
		}
	}
	if as := n.hear("a", &proto.Ping{Nonce: 4}); sent[*proto.Pong](as)["a"].Nonce != 4 {
		t.Errorf("to a ping it answers %s", describe(as))
	}
	if n.Wake() < time.Second {
		t.Error("it does not rest when all is done")
	}
}

// TestNewcomer wants what members lack to be counted anew when the permutations change.
func TestNewcomer(t *testing.T) {
	s := meet(t, 2, Config{Blocks: []int{3, 3}, Have: []int{0, 1}})
	if p := s.pushed(s.complete("0001", 0)); p.Generation != 1 {
		t.Fatalf("it pushes generation %d, which everybody has", p.Generation)
	}
	s.do(mob.Sent{Peer: "0001"})
	s.adopt("the source", permutation(2, 3))
	s.none(s.join("0002", false))
	if p := s.pushed(s.hear("0001", &proto.Taken{})); p.Generation != 0 || p.Peer != "0002" {
		t.Fatalf("it pushes %+v, but the newcomer lacks generation 0", p)
	}
	if p := s.pushed(s.do(mob.Left{Peer: "0002"})); p.Generation != 1 {
		t.Fatalf("it pushes generation %d for a member that has left", p.Generation)
	}
}

// TestDropped wants nothing to be sent of a generation whose blocks were dropped, or are
// damaged, until there are some again.
func TestDropped(t *testing.T) {
	for _, strategy := range []proto.Strategy{proto.Overlap1, proto.RandomBlock} {
		s := meet(t, 2, Config{Blocks: []int{4, 4}, Have: []int{0}, Strategy: strategy})
		const id = "0001"
		s.none(s.do(mob.Polluted{Generation: 0}))
		s.none(s.do(mob.Tick{}))
		s.complete(id, 0)
		if p := s.pushed(s.do(mob.Gathered{Peer: id, Generation: 1})); p.Generation != 1 {
			t.Fatalf("it pushes generation %d", p.Generation)
		}
		s.do(mob.Sent{Peer: id})
		s.do(mob.Polluted{Generation: 1})
		s.none(s.hear(id, &proto.Taken{}))
		s.none(s.do(mob.Polluted{Generation: 2}))
	}
}

// TestRestored checks that a generation is sent again when its damaged pieces have been put back.
func TestRestored(t *testing.T) {
	for _, strategy := range []proto.Strategy{proto.Overlap1, proto.RandomBlock} {
		s := meet(t, 2, Config{Blocks: []int{4}, Have: []int{0}, Strategy: strategy})
		s.none(s.do(mob.Polluted{Generation: 0}))
		s.none(s.do(mob.Tick{}))
		s.do(mob.Decoded{Generation: 0})
		s.pushed(s.do(mob.Tick{}))
	}
}

// TestFilled wants a node that needs no more of a generation to say so at once, and to take
// that back when its blocks were dropped.
func TestFilled(t *testing.T) {
	s := meet(t, 2, Config{Blocks: []int{4, 4}})
	const id = "0001"
	announces := func(ev mob.Event, generations, lost int) {
		t.Helper()
		m := sent[*proto.Decoded](s.do(ev))[id]
		if m == nil {
			m = &proto.Decoded{}
		}
		if len(m.Generations) != generations || len(m.Lost) != lost {
			t.Fatalf("after %T%+v it announces %+v", ev, ev, m)
		}
	}
	announces(mob.Filled{Generation: 0}, 1, 0)
	announces(mob.Filled{Generation: 0}, 0, 0)
	announces(mob.Polluted{Generation: 0}, 0, 1)
	announces(mob.Decoded{Generation: 0}, 1, 0)
	announces(mob.Filled{Generation: 1}, 1, 0)
	announces(mob.Decoded{Generation: 1}, 0, 0)
	if p := s.pushed(s.complete(id, 0)); p.Generation != 1 {
		t.Fatalf("it pushes %+v", p)
	}
	s.do(mob.Sent{Peer: id})
	s.hear(id, &proto.Taken{})
	s.do(mob.Sent{Peer: id})
	s.hear(id, &proto.Decoded{Lost: only(0)})
	if p := s.pushed(s.hear(id, &proto.Taken{})); p.Generation != 0 {
		t.Fatalf("it pushes %+v", p)
	}
	s.none(s.hear(id, &proto.Decoded{Lost: only(1)}))
	s.none(s.hear("a stranger", &proto.Decoded{Lost: only(1)}))
}

// TestLate wants the generations that were complete when a member joined to be sent to it
// last.
func TestLate(t *testing.T) {
	s := meet(t, 3, Config{Blocks: []int{2, 2, 2, 2}, Have: []int{0, 1}})
	for g := range 2 {
		s.complete("0001", g)
	}
	if s.oldest != 0 {
		t.Fatalf("generation %d is in transit, and a member lacks the first", s.oldest)
	}
	p := permutation(2, 3)
	p.Since[2] = 2
	s.adopt("the source", p)
	if s.oldest != 2 {
		t.Fatalf("generation %d is in transit, want 2", s.oldest)
	}
	for g := 2; g < 4; g++ {
		s.do(mob.Decoded{Generation: g})
		s.complete("0001", g)
		s.complete("0002", g)
	}
	for g := range 2 {
		if s.oldest != g {
			t.Fatalf("generation %d is in transit at last, want %d", s.oldest, g)
		}
		s.complete("0002", g)
	}
	if s.oldest != 4 {
		t.Fatalf("generation %d is in transit, and nobody lacks any", s.oldest)
	}
}
