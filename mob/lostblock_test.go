package mob

import (
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// codedState is a state with four generations of 4 blocks and 8 names, two of them
// under way.
func codedState() *State {
	s := New(Config{
		Self: "n", Cluster: "B", Length: 1 << 20, PieceLength: 64 << 10, Tuning: DefaultTuning(),
		Coding: Coding{Blocks: 4, Names: 8, Live: 2},
	}, nil)
	s.Step(time.Unix(1, 0), Learned{})
	return s
}

// A block that was dropped is asked for again, and so is what followed from it.
func TestLostBlockIsAskedForAgain(t *testing.T) {
	s := codedState()
	for _, ev := range []Event{Stored{Piece: 5}, Stored{Piece: 6}, Useless{Piece: 7}, Lost{Piece: 5}} {
		s.Step(time.Unix(1, 0), ev)
	}
	if g := s.coding.at(0); g.have != 1 {
		t.Errorf("%d blocks are there, want 1", g.have)
	}
	for i, want := range []bool{true, true, true, true, true, true, false, true} {
		if s.todo.Has(i) != want {
			t.Errorf("block %d is to be fetched: %v, want %v", i, !want, want)
		}
	}
}

// A generation that was whole and is damaged is fetched again.
func TestLostGenerationIsBegunAgain(t *testing.T) {
	s := codedState()
	s.Step(time.Unix(1, 0), Decoded{Generation: 0})
	s.Step(time.Unix(1, 0), Decoded{Generation: 1})
	for i := range 8 {
		s.Step(time.Unix(1, 0), Lost{Piece: i})
	}
	if s.coding.at(0) != nil {
		t.Error("there are three generations under way")
	}
	s.Step(time.Unix(1, 0), Decoded{Generation: 2})
	if s.coding.at(0) == nil || s.coding.at(3*8) == nil || len(s.coding.live) != 2 || !s.todo.Has(0) {
		t.Errorf("%d generations are under way, and not the lost one", len(s.coding.live))
	}
	for _, g := range []int{0, 3} {
		s.Step(time.Unix(1, 0), Decoded{Generation: g})
	}
	if !s.have.Full() {
		t.Error("the content is not whole")
	}
}

// In a generation that failed, a member has what others of the mob have verified of it.
func TestRepairAsksWhoHasAPart(t *testing.T) {
	s := codedState()
	s.Step(time.Unix(1, 0), Stored{Piece: 5})
	s.Step(time.Unix(1, 0), Polluted{Generation: 0})
	s.Step(time.Unix(1, 0), Joined{Node: Node{ID: "m", Cluster: "B"}})
	p := s.joined["m"]
	p.have.Add(2)
	if _, ok := s.blockKey(p, 2); !ok {
		t.Error("a member that has a part of the generation is not asked for it")
	}
}

// Who loses a block hears of those who have it: they were silent while it had it too.
func TestWhoDropsABlockIsToldWhoHasIt(t *testing.T) {
	s := codedState()
	now := time.Unix(1, 0)
	for _, ev := range []Event{
		Joined{Node: Node{ID: "m", Cluster: "B"}},
		Received{Peer: "m", Message: &proto.Want{Pieces: []proto.Range{{Count: 32}}}},
		Received{Peer: "m", Message: &proto.Have{Have: []proto.Range{{First: 5, Count: 1}}}},
		Stored{Piece: 5},
	} {
		s.Step(now, ev)
	}
	s.Step(now.Add(time.Second), Tick{})
	got := slices.Clone(s.Step(now.Add(time.Second), Received{Peer: "m", Message: &proto.Have{Drop: []proto.Range{{First: 5, Count: 1}}}}))
	for _, a := range append(got, s.Step(now.Add(2*time.Second), Tick{})...) {
		if send, ok := a.(Send); ok {
			if have, ok := send.Message.(*proto.Have); ok && len(have.Have) == 1 && have.Have[0].First == 5 {
				return
			}
		}
	}
	t.Error("the member was not told of the block that it lost")
}

// told says whether a message of the actions tells m that the node drops a piece.
func told(actions []Action, m proto.PeerID, drop uint32) bool {
	return slices.ContainsFunc(actions, func(a Action) bool {
		send, ok := a.(Send)
		have, is := send.Message.(*proto.Have)
		return ok && is && send.Peer == m && slices.ContainsFunc(have.Drop, func(r proto.Range) bool { return r.First <= drop && uint64(drop) < r.End() })
	})
}

// Who has finished hears of what others lose: it was silent when it got the same.
func TestLossIsToldToWhoWishesToHearNothing(t *testing.T) {
	s := codedState()
	now := time.Unix(1, 0)
	s.Step(now, Joined{Node: Node{ID: "m", Cluster: "B"}})
	s.Step(now, Stored{Piece: 5})
	got := slices.Clone(s.Step(now, Lost{Piece: 5}))
	if got = append(got, s.Step(now.Add(time.Second), Tick{})...); !told(got, "m", 5) {
		t.Errorf("%+v", got)
	}
}

// claimed has a state begin a block over the WAN, with a member m that hears of all.
func claimed(t *testing.T, s *State, now time.Time) *fetch {
	t.Helper()
	names := []proto.Range{{Count: 8}}
	for _, ev := range []Event{
		Joined{Node: Node{ID: "a", Cluster: "A"}},
		Joined{Node: Node{ID: "m", Cluster: "B"}},
		Learned{Nodes: []Node{{ID: "a", Cluster: "A"}, {ID: "m", Cluster: "B"}}},
		Received{Peer: "m", Message: &proto.Want{Pieces: names}},
		Received{Peer: "m", Message: &proto.Have{}},
		Received{Peer: "a", Message: &proto.Have{Have: names}},
	} {
		s.Step(now, ev)
	}
	for _, f := range s.fetches {
		if f.wan {
			return f
		}
	}
	t.Fatal("nothing is asked for over the WAN")
	return nil
}

// A claim is taken back when what came from a member instead is false: all members of a
// mob could wait for each other's claims.
func TestClaimOfWhatFailedIsTakenBack(t *testing.T) {
	s := codedState()
	now := time.Unix(1, 0)
	f := claimed(t, s, now)
	s.Step(now, Received{Peer: "m", Message: &proto.Have{Have: []proto.Range{{First: uint32(f.piece), Count: 1}}}})
	if f.wan {
		t.Fatal("what a member has is asked for over the WAN")
	}
	if got := s.Step(now.Add(time.Second), Failed{Piece: f.piece}); !told(got, "m", uint32(f.piece)) {
		t.Errorf("%+v", got)
	}
	if !s.free(f.piece) {
		t.Error("it has to come from the member that has it")
	}
}

// Nor does a claim stand of what no member has any more.
func TestClaimOfWhatMembersDropIsTakenBack(t *testing.T) {
	s := codedState()
	now := time.Unix(1, 0)
	f := claimed(t, s, now)
	one := []proto.Range{{First: uint32(f.piece), Count: 1}}
	s.Step(now, Received{Peer: "m", Message: &proto.Have{Have: one}})
	if got := s.Step(now.Add(time.Second), Received{Peer: "m", Message: &proto.Have{Drop: one}}); !told(got, "m", uint32(f.piece)) {
		t.Errorf("%+v", got)
	}
}
