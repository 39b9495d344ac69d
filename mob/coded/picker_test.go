package coded

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/pickertest"
	"github.com/mobgrid/mob/proto"
)

// small is the coding of these tests.
func small() Coding { return Coding{Blocks: 4, Names: 8, Live: 2} }

// subject is a picker of five generations, the last a short one.
func subject() pickertest.Subject {
	k := New(19*(64<<10)-5000, 64<<10, small())
	return pickertest.Subject{
		Picker: k,
		Right: func(i int) mob.Event {
			g := i / k.Names
			if k.Stored.Have.Count(g*k.Names, (g+1)*k.Names)+1 == k.sourcesIn(g) {
				return mob.Decoded{Generation: g}
			}
			return mob.Stored{Piece: i}
		},
		Check: func(*mob.State) error { return k.check() },
	}
}

// check compares the surveys that are not stale with new ones.
func (k *Picker) check() error {
	for _, g := range k.live {
		g.stale = g.stale || k.Stored.TakeDirty(g.first, g.end)
		for _, l := range k.Levels {
			if now := k.surveyed(l, g); !g.stale && *g.from(l) != now {
				return fmt.Errorf("the survey of generation %d is %+v, and was %+v", g.number, now, *g.from(l))
			}
		}
	}
	return nil
}

func TestPicker(t *testing.T) { pickertest.Conformance(t, subject) }

func FuzzStep(f *testing.F) {
	pickertest.Fuzz(f, func() (pickertest.Subject, []proto.Range) {
		return subject(), []proto.Range{{First: 8, Count: 8}} // the second generation
	})
}

func BenchmarkPick(b *testing.B) {
	pickertest.Benchmark(b, func() mob.Picker {
		return New(20000*(256<<10), 256<<10, Coding{Blocks: 16, Names: 32, Live: 32})
	})
}

// node is a State with four generations, two of them being fetched, and its picker.
type node struct {
	*mob.State
	k   *Picker
	now time.Time
}

func newNode() *node {
	k := New(1<<20, 64<<10, small())
	n := &node{k: k, now: time.Unix(1, 0)}
	n.State = mob.New(mob.Config{Self: "n", Cluster: "B", Tuning: mob.DefaultTuning(), Picker: k}, nil)
	n.steps(mob.Learned{})
	return n
}

// steps handles events, and a Tick a second later, and returns the actions.
func (n *node) steps(evs ...mob.Event) (did []mob.Action) {
	for _, ev := range evs {
		did = append(did, n.Step(n.now, ev)...)
	}
	n.now = n.now.Add(time.Second)
	return append(did, n.Step(n.now, mob.Tick{})...)
}

// TestLostBlock checks that a dropped block is fetched again, and combinations with it.
func TestLostBlock(t *testing.T) {
	n := newNode()
	n.steps(mob.Stored{Piece: 5}, mob.Stored{Piece: 6}, mob.Useless{Piece: 7}, mob.Lost{Piece: 5})
	if g := n.k.at(0); g.have != 1 {
		t.Errorf("%d blocks are stored, want 1", g.have)
	}
	for i, want := range []bool{true, true, true, true, true, true, false, true} {
		if n.k.Wanted.Has(i) != want {
			t.Errorf("block %d is wanted: %v, want %v", i, !want, want)
		}
	}
}

// TestStoredBlockIsNotWanted receives two copies of a block. The first is useless, and the second is not,
// since another block was dropped before it.
func TestStoredBlockIsNotWanted(t *testing.T) {
	n := newNode()
	n.steps(mob.Stored{Piece: 5}, mob.Useless{Piece: 7}, mob.Stored{Piece: 7}, mob.Lost{Piece: 5})
	if n.k.Wanted.Has(7) {
		t.Error("a block that is stored is wanted")
	}
}

// TestRequestedBlockIsNotWanted drops a block while another one of its generation, which was useless and
// then failed, is requested again.
func TestRequestedBlockIsNotWanted(t *testing.T) {
	n := newNode()
	n.steps(mob.Joined{Node: mob.Node{ID: "m", Cluster: "B"}}, mob.Stored{Piece: 5}, mob.Useless{Piece: 7},
		mob.Failed{Piece: 7}, mob.Received{Peer: "m", Message: &proto.Have{Have: one(7)}})
	if n.k.Fetches[7] == nil {
		t.Fatal("the block is not requested")
	}
	n.steps(mob.Lost{Piece: 5})
	if n.k.Wanted.Has(7) {
		t.Error("a block in flight is wanted")
	}
}

// TestLostGeneration checks that a damaged generation is fetched again after the live ones.
func TestLostGeneration(t *testing.T) {
	n := newNode()
	n.steps(mob.Decoded{Generation: 0}, mob.Decoded{Generation: 1})
	for i := range 8 {
		n.steps(mob.Lost{Piece: i})
	}
	if n.k.at(0) != nil {
		t.Error("three generations are being fetched")
	}
	n.steps(mob.Decoded{Generation: 2})
	if n.k.at(0) == nil || n.k.at(3*8) == nil || len(n.k.live) != 2 || !n.k.Wanted.Has(0) {
		t.Errorf("%d generations are being fetched, and not the lost one", len(n.k.live))
	}
	n.steps(mob.Decoded{Generation: 0}, mob.Decoded{Generation: 3})
	if st := n.Status(); st.Have != st.Total {
		t.Error("the content is not complete")
	}
}

// TestRepairedPieceComesFromOnePeer checks that all blocks of a piece are requested of one peer, and of the
// other one once the piece has failed.
func TestRepairedPieceComesFromOnePeer(t *testing.T) {
	n := newNode()
	n.k.Coding.Piece = 4
	var requests []mob.Send
	step := func(ev mob.Event) {
		for _, a := range n.Step(n.now, ev) {
			if send, ok := a.(mob.Send); ok {
				if _, ok := send.Message.(*proto.Request); ok {
					requests = append(requests, send)
				}
			}
		}
	}
	names := []proto.Range{{Count: 32}}
	for _, id := range []proto.PeerID{"m", "p"} {
		step(mob.Joined{Node: mob.Node{ID: id, Cluster: "B"}})
		step(mob.Received{Peer: id, Message: &proto.Have{Have: names}})
	}
	step(mob.Polluted{Generation: 1})
	requests = nil // it cancels them
	step(mob.Polluted{Generation: 0})
	var first proto.PeerID // that sent the corrupt piece
	came := map[proto.PeerID][]int{}
	for range 100 {
		if len(requests) == 0 {
			n.now = n.now.Add(100 * time.Millisecond)
			step(mob.Tick{})
			continue
		}
		r := requests[0]
		requests = requests[1:]
		sp := r.Message.(*proto.Request).Span
		step(mob.Arrived{Peer: r.Peer, Span: sp})
		if sp.Piece < 4 {
			came[r.Peer] = append(came[r.Peer], int(sp.Piece))
		}
		switch {
		case sp.Piece >= 4 || len(came[r.Peer]) < 4:
			step(mob.Stored{Piece: int(sp.Piece)})
		case first == "":
			first = r.Peer
			step(mob.Failed{Piece: int(sp.Piece)})
			for _, i := range came[first][:3] {
				step(mob.Lost{Piece: i})
			}
		default:
			if r.Peer == first || len(came) != 2 || len(came[first]) != 4 {
				t.Errorf("the piece came in parts: %v", came)
			}
			return
		}
	}
	t.Fatalf("the piece did not come from one peer: %v", came)
}

// TestRepairAsksPartialHolders checks that a failed generation is requested of a member with a part of it.
func TestRepairAsksPartialHolders(t *testing.T) {
	n := newNode()
	n.steps(mob.Stored{Piece: 5}, mob.Polluted{Generation: 0})
	did := n.steps(mob.Joined{Node: mob.Node{ID: "m", Cluster: "B"}},
		mob.Received{Peer: "m", Message: &proto.Have{Have: []proto.Range{{First: 2, Count: 1}}}})
	if !sends(did, "m", func(m *proto.Request) bool { return m.Piece == 2 }) {
		t.Error("a member that has a part of the generation is not asked for it")
	}
}

// sends reports whether a message to a peer is among actions.
func sends[M proto.Message](did []mob.Action, to proto.PeerID, is func(M) bool) bool {
	return slices.ContainsFunc(did, func(a mob.Action) bool {
		send, _ := a.(mob.Send)
		m, ok := send.Message.(M)
		return ok && send.Peer == to && is(m)
	})
}

// drops reports whether a message takes a number back.
func drops(i int) func(*proto.Have) bool {
	return func(m *proto.Have) bool {
		return slices.ContainsFunc(m.Drop, func(r proto.Range) bool { return int(r.First) <= i && uint64(i) < r.End() })
	}
}

func one(i int) []proto.Range { return []proto.Range{{First: uint32(i), Count: 1}} }

// TestDropIsAnsweredWithHave lets a member lose a block. The node announces the block, which it did not
// while the member had it.
func TestDropIsAnsweredWithHave(t *testing.T) {
	n := newNode()
	n.steps(mob.Joined{Node: mob.Node{ID: "m", Cluster: "B"}},
		mob.Received{Peer: "m", Message: &proto.Want{Pieces: []proto.Range{{Count: 32}}}},
		mob.Received{Peer: "m", Message: &proto.Have{Have: one(5)}}, mob.Stored{Piece: 5})
	did := n.steps(mob.Received{Peer: "m", Message: &proto.Have{Drop: one(5)}})
	if !sends(did, "m", func(m *proto.Have) bool { return len(m.Have) == 1 && m.Have[0].First == 5 }) {
		t.Error("the member was not told of the block that it lost")
	}
}

// TestLossIsSentToAll checks that a member without a Want receives a loss: it may know of the block.
func TestLossIsSentToAll(t *testing.T) {
	n := newNode()
	n.steps(mob.Joined{Node: mob.Node{ID: "m", Cluster: "B"}}, mob.Stored{Piece: 5})
	if did := n.steps(mob.Lost{Piece: 5}); !sends(did, "m", drops(5)) {
		t.Errorf("%+v", did)
	}
}

// claims lets the node request a block over the WAN while a member m wants all blocks, and returns
// its number.
func (n *node) claims(t *testing.T) int {
	t.Helper()
	names := []proto.Range{{Count: 8}}
	for _, ev := range []mob.Event{
		mob.Joined{Node: mob.Node{ID: "a", Cluster: "A"}},
		mob.Joined{Node: mob.Node{ID: "m", Cluster: "B"}},
		mob.Learned{Nodes: []mob.Node{{ID: "a", Cluster: "A"}, {ID: "m", Cluster: "B"}}},
		mob.Received{Peer: "m", Message: &proto.Want{Pieces: names}},
		mob.Received{Peer: "m", Message: &proto.Have{}},
		mob.Received{Peer: "a", Message: &proto.Have{Have: names}},
	} {
		n.Step(n.now, ev)
	}
	for i := range 8 {
		if n.k.Fetches[i].Enters(n.k.Site()) {
			return i
		}
	}
	t.Fatal("nothing is requested over the WAN")
	return -1
}

// TestFailedClaimIsWithdrawn receives a claimed block from a member, corrupt. If the claim stayed, all
// members of a cluster could wait for each other's claims.
func TestFailedClaimIsWithdrawn(t *testing.T) {
	n := newNode()
	i := n.claims(t)
	n.Step(n.now, mob.Received{Peer: "m", Message: &proto.Have{Have: one(i)}})
	if n.k.Fetches[i].Enters(n.k.Site()) {
		t.Fatal("a block of a member is requested over the WAN")
	}
	if did := n.steps(mob.Failed{Piece: i}); !sends(did, "m", drops(i)) {
		t.Errorf("%+v", did)
	}
	if !n.k.MayTake(n.k.Site(), i) {
		t.Error("it has to come from the member that has it")
	}
}

func TestDroppedClaimIsWithdrawn(t *testing.T) {
	n := newNode()
	i := n.claims(t)
	n.Step(n.now, mob.Received{Peer: "m", Message: &proto.Have{Have: one(i)}})
	if did := n.steps(mob.Received{Peer: "m", Message: &proto.Have{Drop: one(i)}}); !sends(did, "m", drops(i)) {
		t.Errorf("%+v", did)
	}
}

// TestWhoMakesBlocks checks that a peer with more blocks of a generation than source blocks must make them.
func TestWhoMakesBlocks(t *testing.T) {
	for _, tt := range []struct {
		has  uint32
		made bool
	}{{4, false}, {5, true}, {8, true}} {
		n := newNode()
		requests := 0
		for _, a := range n.steps(mob.Joined{Node: mob.Node{ID: "m", Cluster: "B"}},
			mob.Received{Peer: "m", Message: &proto.Have{Have: []proto.Range{{Count: tt.has}}}}) {
			if s, ok := a.(mob.Send); ok && s.Made != tt.made {
				if _, ok := s.Message.(*proto.Request); ok {
					t.Errorf("of %d blocks of a peer one is requested with Made: %v", tt.has, s.Made)
				}
			} else if _, request := s.Message.(*proto.Request); ok && request {
				requests++
			}
		}
		if requests == 0 {
			t.Errorf("nothing is requested of a peer that has %d blocks", tt.has)
		}
	}
}
