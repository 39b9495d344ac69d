package permutation

import (
	"testing"

	"github.com/mobgrid/mob/proto"
)

// sendTo is whom a state sends a block without an offer.
func sendTo(t *testing.T, as []Action) proto.PeerID {
	t.Helper()
	if len(as) != 1 {
		t.Fatalf("it does %s, want a block sent", words(as))
	}
	a, ok := as[0].(Send)
	if !ok {
		t.Fatalf("it does %s, want a block sent", words(as))
	}
	return a.Peer
}

// TestWindowFills wants one block to leave at a time, one to a peer until that confirms
// it, and no more than the window unconfirmed.
func TestWindowFills(t *testing.T) {
	s, topology := meet(9, Config{Batches: []int{4, 4}, Decoded: []int{0}, Window: 3})
	on := map[proto.PeerID]bool{}
	as := s.Step(Tick{})
	for round := range 3 {
		id := sendTo(t, as)
		if on[id] {
			t.Fatalf("a second block to %s", id)
		}
		if want := topology.Members()[topology.Successor(round, 0)]; round == 0 && id != want {
			t.Fatalf("the first block goes to %s, want the successor %s", id, want)
		}
		on[id] = true
		want(t, s.Step(Tick{}))
		want(t, s.Step(Confirmed{Peer: "a stranger"}))
		as = s.Step(Sent{Peer: id})
	}
	want(t, as)
	for id := range on {
		if next := sendTo(t, s.Step(Confirmed{Peer: id})); on[next] && next != id {
			t.Fatalf("a second block to %s", next)
		}
		want(t, s.Step(Confirmed{Peer: id}))
		break
	}
}

// TestWindowOfTheSource wants who has everything to send twice as much.
func TestWindowOfTheSource(t *testing.T) {
	s, _ := meet(9, Config{Batches: []int{4}, Whole: true, Window: 3})
	as := s.Step(Tick{})
	for range 6 {
		as = s.Step(Sent{Peer: sendTo(t, as)})
	}
	want(t, as)
}

// TestConfirms wants each block that comes without an offer to be confirmed, and nothing
// sent to who has everything, or to who leaves.
func TestConfirms(t *testing.T) {
	s, topology := meet(3, Config{Batches: []int{4}, Window: 1})
	a, b := topology.Members()[1], topology.Members()[2]
	s.Step(Heard{Peer: a})
	as := s.Step(Received{Peer: a, Round: 30})
	want(t, as[:1], Confirm{Peer: a})
	want(t, as[1:], Send{Peer: b, Round: 30})
	s.Step(Sent{Peer: b})
	want(t, s.Step(Left{Peer: b}))
	want(t, s.Step(Tick{}))
	if as := s.Step(Joined{Peer: b}); len(as) > 0 {
		t.Fatalf("it does %s before the next tick", words(as))
	}
	if id := sendTo(t, s.Step(Tick{})); id != b {
		t.Fatalf("sends to %s", id)
	}
}

// TestPatience wants a block that is never confirmed to be forgotten.
func TestPatience(t *testing.T) {
	s, topology := meet(2, Config{Batches: []int{4}, Whole: true, Window: 1})
	id := topology.Members()[1]
	s.Step(Sent{Peer: sendTo(t, s.Step(Tick{}))})
	for range patience {
		want(t, s.Step(Tick{}))
	}
	if sendTo(t, s.Step(Tick{})) != id {
		t.Fatal("it sends to another")
	}
}

// TestDiscarded wants nothing to be sent of a batch that turned out to be wrong, or is
// damaged, until there is something again.
func TestDiscarded(t *testing.T) {
	for _, uncoded := range []bool{false, true} {
		s, topology := meet(2, Config{Batches: []int{4, 4}, Decoded: []int{1}, Window: 1, Order: Overlap1, Uncoded: uncoded})
		id := topology.Members()[1]
		if as := s.Step(Discarded{Batch: 1}); uncoded && as[0].(Map).Has.Len() > 0 {
			t.Fatalf("it tells %s", words(as))
		}
		want(t, s.Step(Tick{}))
		sendTo(t, s.Step(Received{Peer: id, Batch: 0})[1:])
		s.Step(Sent{Peer: id})
		s.Step(Discarded{Batch: 0})
		want(t, s.Step(Confirmed{Peer: id}))
		want(t, s.Step(Discarded{Batch: 2}))
	}
}

// TestFilled wants who needs no more of a batch to be sent the next at once, and the
// former again if that is taken back.
func TestFilled(t *testing.T) {
	s, topology := meet(2, Config{Batches: []int{4, 4}, Window: 1})
	id := topology.Members()[1]
	want(t, s.Step(Filled{Batch: 0}), Tell{Batch: 0})
	want(t, s.Step(Filled{Batch: 0}))
	want(t, s.Step(Discarded{Batch: 0}), Retract{Batch: 0})
	want(t, s.Step(Decoded{Batch: 0}), Tell{Batch: 0})
	want(t, s.Step(Filled{Batch: 1}), Tell{Batch: 1})
	want(t, s.Step(Decoded{Batch: 1}), Finished{})
	if as := s.Step(Heard{Peer: id, Batch: 0}); as[0].(Send).Batch != 1 {
		t.Fatalf("it does %s", words(as))
	}
	s.Step(Sent{Peer: id})
	s.Step(Confirmed{Peer: id})
	s.Step(Sent{Peer: id})
	s.Step(Lacks{Peer: id, Batch: 0})
	if as := s.Step(Confirmed{Peer: id}); as[0].(Send).Batch != 0 {
		t.Fatalf("it does %s", words(as))
	}
	want(t, s.Step(Lacks{Peer: id, Batch: 1}))
	want(t, s.Step(Lacks{Peer: "a stranger", Batch: 7}))
}

// TestLate wants the batches that were over when a member came to be sent to it last.
func TestLate(t *testing.T) {
	s, topology := meet(3, Config{Batches: []int{2, 2, 2, 2}, Decoded: []int{0, 1}})
	for i := range 2 {
		s.Step(Heard{Peer: topology.Members()[1], Batch: i})
	}
	if s.Oldest() != 0 {
		t.Fatalf("batch %d goes round, and a member lacks the first", s.Oldest())
	}
	s.Step(Permuted{Topology: topology, Since: []int{0, 0, 2}})
	if s.Oldest() != 2 {
		t.Fatalf("batch %d goes round, want 2", s.Oldest())
	}
	for i := 2; i < 4; i++ {
		s.Step(Decoded{Batch: i})
		for _, id := range topology.Members()[1:] {
			s.Step(Heard{Peer: id, Batch: i})
		}
	}
	for i := range 2 {
		if s.Oldest() != i {
			t.Fatalf("batch %d goes round at last, want %d", s.Oldest(), i)
		}
		s.Step(Heard{Peer: topology.Members()[2], Batch: i})
	}
	if s.Oldest() != 4 {
		t.Fatalf("batch %d goes round, and nobody lacks any", s.Oldest())
	}
}
