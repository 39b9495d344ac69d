package permutation

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

// meet makes a state of node 0 of n, which all others have joined.
func meet(n int, cfg Config) (*State, *Topology) {
	topology := NewTopology(1, ids(n))
	cfg.Self = topology.Members()[0]
	s := New(cfg)
	s.Step(Permuted{Topology: topology})
	for _, id := range topology.Members()[1:] {
		s.Step(Joined{Peer: id})
	}
	return s, topology
}

// want compares what a state does with what it should do.
func want(t *testing.T, got []Action, want ...Action) {
	t.Helper()
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Fatalf("it does %s, want %s", words(got), words(want))
	}
}

func words(as []Action) string {
	s := "nothing"
	for i, a := range as {
		if i == 0 {
			s = ""
		}
		s += fmt.Sprintf("%T%+v ", a, a)
	}
	return s
}

// offered is whom a state offers a block.
func offeredTo(t *testing.T, as []Action) proto.PeerID {
	t.Helper()
	if len(as) != 1 {
		t.Fatalf("it does %s, want an offer", words(as))
	}
	o, ok := as[0].(Offer)
	if !ok {
		t.Fatalf("it does %s, want an offer", words(as))
	}
	return o.Peer
}

// TestSends wants a block to the successor of each round, one after the other.
func TestSends(t *testing.T) {
	s, topology := meet(9, Config{Batches: []int{4}, Whole: true})
	as := s.Step(Tick{})
	for round := 1; round < 20; round++ {
		id := topology.Members()[topology.Successor(round, 0)]
		want(t, as, Offer{Peer: id, Round: round})
		want(t, s.Step(Tick{}))
		want(t, s.Step(Accepted{Peer: id}), Send{Peer: id})
		want(t, s.Step(Tick{}))
		as = s.Step(Sent{Peer: id})
	}
}

// TestSkips wants the next order's successor when one is busy, and none that is
// gone, or has everything.
func TestSkips(t *testing.T) {
	s, topology := meet(9, Config{Batches: []int{4}, Whole: true})
	successor := func(order int) proto.PeerID { return topology.Members()[topology.Successor(order, 0)] }
	busy, next := offeredTo(t, s.Step(Tick{})), offeredTo(t, s.Step(Refused{Peer: successor(1)}))
	if busy != successor(1) || next == busy {
		t.Fatalf("offers to %s, then to %s", busy, next)
	}
	s.Step(Left{Peer: next}) // it looks on at once
	finished := s.to.id
	if finished == busy || finished == next {
		t.Fatalf("after %s was busy and %s left, it offers to %s", busy, next, finished)
	}
	as := s.Step(Refused{Peer: finished, Decoded: true})
	for seen := map[proto.PeerID]bool{busy: true, next: true, finished: true}; len(as) > 0; {
		id := offeredTo(t, as)
		if seen[id] {
			t.Fatalf("it offers to %s again", id)
		}
		seen[id] = true
		as = s.Step(Refused{Peer: id})
	}
	for range 3 * orders {
		id := offeredTo(t, s.Step(Tick{}))
		if id == next || id == finished {
			t.Fatalf("it offers to %s, which has left or finished", id)
		}
		s.Step(Accepted{Peer: id})
		if as := s.Step(Sent{Peer: id}); len(as) > 0 {
			s.Step(Refused{Peer: offeredTo(t, as)})
			for s.to != nil {
				s.Step(Refused{Peer: s.to.id})
			}
		}
	}
	for _, id := range topology.Members()[1:] {
		s.Step(Heard{Peer: id})
	}
	want(t, s.Step(Tick{}))
}

// TestTakesOne wants one block at a time, and none that it has no use for.
func TestTakesOne(t *testing.T) {
	s, topology := meet(4, Config{Batches: []int{2, 2, 2}})
	a, b := topology.Members()[1], topology.Members()[2]
	want(t, s.Step(Offered{Peer: a}), Accept{Peer: a})
	want(t, s.Step(Offered{Peer: b}), Refuse{Peer: b})
	s.Step(Received{Peer: a})
	want(t, s.Step(Offered{Peer: b}), Accept{Peer: b})
	s.Step(Left{Peer: b})
	for _, batch := range []int{-1, 2, 3, 1 << 40} { // the third batch cannot come before the first is everywhere
		want(t, s.Step(Offered{Peer: a, Batch: batch}), Refuse{Peer: a})
	}
	s.Step(Decoded{Batch: 0})
	want(t, s.Step(Offered{Peer: a}), Refuse{Peer: a, Decoded: true})
	want(t, s.Step(Offered{Peer: "a stranger", Batch: 1}))
	want(t, s.Step(Offered{Peer: a, Batch: 1, Round: 40}), Accept{Peer: a})
	for s.to != nil {
		s.Step(Refused{Peer: s.to.id})
	}
	s.Step(Tick{})
	if s.Round() != 40 {
		t.Errorf("in round %d, after a peer was in round 40", s.Round())
	}
}

// TestWaits wants whose turn it is next to wait for the end of the block before, until
// the next tick, and all others to be refused and told later.
func TestWaits(t *testing.T) {
	s, topology := meet(6, Config{Batches: []int{9}})
	id := topology.Members()
	offer := func(i, round, skipped int) []Action {
		return s.Step(Offered{Peer: id[i], Round: round, Skipped: skipped})
	}
	want(t, offer(1, 7, 0), Accept{Peer: id[1]})
	want(t, offer(2, 7, 0), Refuse{Peer: id[2]}) // of the same round: the block has hardly begun
	want(t, offer(3, 8, 1), Refuse{Peer: id[3]}) // it is another's turn
	want(t, offer(4, 8, 0))
	want(t, offer(5, 8, 0), Refuse{Peer: id[5]})
	want(t, offer(4, 8, 0)) // said twice
	want(t, s.Step(Received{Peer: id[1]})[:1], Accept{Peer: id[4]})
	want(t, offer(1, 9, 0))
	s.Step(Refused{Peer: s.to.id})
	round := s.Round()
	for s.to != nil {
		s.Step(Refused{Peer: s.to.id})
	}
	want(t, s.Step(Tick{})[:1], Refuse{Peer: id[1], Round: round})
	free := s.Step(Left{Peer: id[4]})
	want(t, free[:4], Free{Peer: id[2]}, Free{Peer: id[3]}, Free{Peer: id[5]}, Free{Peer: id[1]})
	want(t, offer(1, 10, 0), Accept{Peer: id[1]})
	want(t, offer(1, 11, 0)) // the next, when the one before has left it and not yet come
	want(t, s.Step(Received{Peer: id[1]})[:1], Accept{Peer: id[1]})
	want(t, offer(2, 12, 0))
	s.Step(Decoded{Batch: 0})
	want(t, s.Step(Received{Peer: id[1]})[:1], Refuse{Peer: id[2], Round: s.Round(), Decoded: true})
}

// TestFreed wants a peer that was busy to be asked again.
func TestFreed(t *testing.T) {
	s, topology := meet(2, Config{Batches: []int{4}, Whole: true})
	id := topology.Members()[1]
	for range 3 {
		s.Step(Tick{})
		want(t, s.Step(Refused{Peer: id}))
		if offeredTo(t, s.Step(Freed{Peer: id})) != id {
			t.Fatal("another peer")
		}
		want(t, s.Step(Freed{Peer: id}))
		s.Step(Refused{Peer: id, Round: s.Round() + 5})
	}
	if s.Step(Tick{}); s.Round() < 15 {
		t.Errorf("in round %d, behind what it has heard", s.Round())
	}
}

// TestSendsOn wants a node to send as soon as it has something.
func TestSendsOn(t *testing.T) {
	s, topology := meet(4, Config{Batches: []int{2}})
	want(t, s.Step(Tick{}))
	s.Step(Offered{Peer: topology.Members()[1]})
	offeredTo(t, s.Step(Received{Peer: topology.Members()[1]}))
}

// TestFinishes wants word of each batch, and of the end once.
func TestFinishes(t *testing.T) {
	s, _ := meet(1, Config{Batches: []int{2, 2}})
	want(t, s.Step(Decoded{Batch: 1}), Tell{Batch: 1})
	want(t, s.Step(Decoded{Batch: 1}))
	want(t, s.Step(Decoded{Batch: 0}), Tell{Batch: 0}, Finished{})
}

// TestNewcomer wants the members' batches to be counted anew when they change.
func TestNewcomer(t *testing.T) {
	s, _ := meet(2, Config{Batches: []int{3, 3}, Whole: true})
	if o := s.Step(Heard{Peer: "0001", Batch: 0})[0].(Offer); o.Batch != 1 {
		t.Fatalf("it offers batch %d, which everybody has", o.Batch)
	}
	s.Step(Refused{Peer: "0001"})
	s.Step(Permuted{Topology: NewTopology(2, ids(3))})
	s.Step(Refused{Peer: "0001"})
	want(t, s.Step(Joined{Peer: "0002"}))
	for range 4 { // either of the two is the first successor
		for _, a := range s.Step(Tick{}) {
			if o := a.(Offer); o.Batch != 0 || o.Peer != "0002" {
				t.Fatalf("it offers %+v, but the newcomer lacks batch 0", o)
			}
		}
		s.Step(Refused{Peer: "0002"})
	}
	if o := s.Step(Left{Peer: "0002"})[0].(Offer); o.Batch != 1 {
		t.Fatalf("it offers batch %d for somebody who has left", o.Batch)
	}
}

// TestPlainBlocks wants blocks that the peer lacks, as far as it has told, and
// word of the own ones after every second.
func TestPlainBlocks(t *testing.T) {
	const k = 70
	s, topology := meet(2, Config{Batches: []int{k}, Uncoded: true})
	id := topology.Members()[1]
	told := pieceset.New(k)
	told.AddRange(0, k-3)
	s.Step(Mapped{Peer: id, Has: told})
	maps := 0
	for i := range k - 1 {
		s.Step(Offered{Peer: id})
		for _, a := range s.Step(Received{Peer: id, Block: i}) {
			if m, ok := a.(Map); ok {
				if maps++; m.Has.Len() != i+1 {
					t.Fatalf("it has %d blocks and tells of %d", i+1, m.Has.Len())
				}
			}
		}
	}
	if maps != (k-1)/2 {
		t.Errorf("it told of its blocks %d times after %d", maps, k-1)
	}
	sent := map[int]bool{}
	for range 60 {
		for _, a := range s.Step(Accepted{Peer: id}) {
			sent[a.(Send).Block] = true
		}
		s.Step(Sent{Peer: id})
	}
	if len(sent) != 2 || !sent[k-3] || !sent[k-2] {
		t.Errorf("of the blocks %d and %d, which the peer lacks, it sends %v", k-3, k-2, sent)
	}
	told = told.Clone()
	told.AddRange(0, k-1)
	s.Step(Mapped{Peer: id, Has: told})
	s.Step(Sent{Peer: id})
	s.Step(Refused{Peer: id})
	want(t, s.Step(Tick{}))
	s.Step(Mapped{Peer: id, Has: pieceset.New(3)}) // another content's
	want(t, s.Step(Tick{}))
}
