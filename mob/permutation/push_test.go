package permutation

import (
	"testing"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// TestSuccessors wants a block to the successor of each round, one at a time.
func TestSuccessors(t *testing.T) {
	s := meet(t, 9, Config{Blocks: []int{4}, Have: []int{0}})
	as := s.do(mob.Tick{})
	for round := range 20 {
		p := s.pushed(as)
		if want := s.topology.Members()[s.topology.Successor(round, 0)]; p.Peer != want || p.Round != round {
			t.Fatalf("in round %d it pushes %+v, want to %s", round, p, want)
		}
		s.none(s.do(mob.Tick{}))
		s.none(s.hear(p.Peer, &proto.Taken{}))
		as = s.do(mob.Sent{Peer: p.Peer})
	}
}

// TestSkips wants the successor in the next permutation where one has left, or has all.
func TestSkips(t *testing.T) {
	s := meet(t, 9, Config{Blocks: []int{4, 4}, Have: []int{0}})
	as := s.complete("0005", 0)
	s.none(s.do(mob.Left{Peer: "0003"}))
	counts := map[proto.PeerID]int{}
	for range Length {
		p := s.pushed(as)
		counts[p.Peer]++
		s.hear(p.Peer, &proto.Taken{})
		as = s.do(mob.Sent{Peer: p.Peer})
	}
	if len(counts) != 6 || counts["0003"] > 0 || counts["0005"] > 0 {
		t.Errorf("pushes by peer: %v", counts)
	}
	for _, id := range s.topology.Members()[1:] {
		s.complete(id, 0)
	}
	s.do(mob.Sent{Peer: s.pushed(as).Peer})
	s.none(s.rest())
}

// TestWindow wants one block at most to a peer until that confirms it, and no more than
// the window unconfirmed; twice as many of a node that has all generations.
func TestWindow(t *testing.T) {
	for have, most := range map[int]int{1: window, 2: 2 * window} {
		s := meet(t, 12, Config{Blocks: []int{4, 4}, Have: []int{0, 1}[:have]})
		busy := map[proto.PeerID]bool{}
		as := s.do(mob.Tick{})
		for range most {
			id := s.pushed(as).Peer
			if busy[id] {
				t.Fatalf("a second block to %s", id)
			}
			busy[id] = true
			s.none(s.do(mob.Tick{}))
			s.none(s.hear("a stranger", &proto.Taken{}))
			as = s.do(mob.Sent{Peer: id})
		}
		s.none(as)
		for id := range busy {
			if next := s.pushed(s.hear(id, &proto.Taken{})).Peer; busy[next] && next != id {
				t.Fatalf("a second block to %s", next)
			}
			s.none(s.hear(id, &proto.Taken{}))
			break
		}
	}
}

// TestGathered wants each block to be confirmed, the round of its sender to be adopted, and
// the first one to be passed on at once; but not to a peer that needs none, or leaves.
func TestGathered(t *testing.T) {
	s := meet(t, 3, Config{Blocks: []int{4}})
	const a, b = "0001", "0002"
	s.none(s.do(mob.Tick{}))
	s.complete(a, 0)
	as := s.do(mob.Gathered{Peer: a, Round: 30})
	if sent[*proto.Taken](as)[a] == nil {
		t.Errorf("it does %s, want the block confirmed", describe(as))
	}
	if p := s.pushed(as); p.Peer != b || p.Round != 30 {
		t.Errorf("it pushes %+v", p)
	}
	s.do(mob.Sent{Peer: b})
	s.none(s.do(mob.Left{Peer: b}))
	s.none(s.do(mob.Tick{}))
	s.none(s.join(b, false))
	if p := s.pushed(s.do(mob.Tick{})); p.Peer != b {
		t.Errorf("it pushes %+v", p)
	}
	s.do(mob.Gathered{Peer: a, Round: maxRound})
	if s.heard != 30 {
		t.Errorf("it has heard of round %d", s.heard)
	}
}

func TestConfirmTimeout(t *testing.T) {
	s := meet(t, 2, Config{Blocks: []int{4}, Have: []int{0}})
	s.do(mob.Sent{Peer: s.pushed(s.do(mob.Tick{})).Peer})
	for range confirmTimeout {
		s.none(s.do(mob.Tick{}))
	}
	s.pushed(s.do(mob.Tick{}))
}
