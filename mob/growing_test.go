package mob_test

import (
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/pickertest"
	"github.com/mobgrid/mob/proto"
)

// growingSubject is a content of which all pieces came into being at once, some of them short.
func growingSubject() pickertest.Subject {
	g := mob.Grown{}
	for i := range fuzzPieces {
		g.Sizes = append(g.Sizes, 64<<10-i%3*20000)
	}
	return pickertest.Subject{
		Picker:  mob.NewGrowing(fuzzPieces*(64<<10), 64<<10),
		Right:   func(i int) mob.Event { return mob.Stored{Piece: i} },
		Begin:   []mob.Event{g},
		Growing: true,
		Check:   mob.CheckBooks,
	}
}

func TestGrowing(t *testing.T) { pickertest.Conformance(t, growingSubject) }

func FuzzGrowing(f *testing.F) {
	pickertest.Fuzz(f, func() (pickertest.Subject, []proto.Range) {
		return growingSubject(), []proto.Range{{First: 3, Count: 2}}
	})
}

// grower is a node of a content that grows, whose only peer is the source.
type grower struct {
	*mob.State
	now       time.Time
	requested []proto.Span
	dropped   []proto.Range
	finished  bool
}

// newGrower is a node of cluster B. The source is of this cluster.
func newGrower(source string, uploadOnly bool) *grower {
	g := &grower{now: time.Unix(1e9, 0)}
	g.State = mob.New(mob.Config{
		Self: "n", Cluster: "B", Length: 1024 * (64 << 10), PieceLength: 64 << 10,
		Growing: true, UploadOnly: uploadOnly, Seed: 1, Tuning: mob.DefaultTuning(),
	}, nil)
	g.step(mob.Learned{})
	g.step(mob.Joined{Node: mob.Node{ID: "p", Cluster: source}})
	return g
}

func (g *grower) step(ev mob.Event) (haves []proto.Range) {
	g.now = g.now.Add(time.Millisecond)
	for _, a := range g.Step(g.now, ev) {
		switch a := a.(type) {
		case mob.Finished:
			g.finished = true
		case mob.Send:
			switch m := a.Message.(type) {
			case *proto.Request:
				g.requested = append(g.requested, m.Span)
			case *proto.Have:
				haves = append(haves, m.Have...)
				g.dropped = append(g.dropped, m.Drop...)
			}
		}
	}
	return haves
}

// have has the source announce pieces.
func (g *grower) have(first, count uint32) {
	g.step(mob.Received{Peer: "p", Message: &proto.Have{Have: []proto.Range{{First: first, Count: count}}}})
}

// wait lets time pass.
func (g *grower) wait(d time.Duration) {
	for end := g.now.Add(d); g.now.Before(end); {
		g.now = g.now.Add(min(g.Wake(), end.Sub(g.now)))
		g.step(mob.Tick{})
	}
}

// answer has everything that was requested arrive, and be stored.
func (g *grower) answer() (bytes map[uint32]int) {
	bytes = map[uint32]int{}
	for len(g.requested) > 0 {
		sp := g.requested[0]
		g.requested = g.requested[1:]
		bytes[sp.Piece] += int(sp.Length)
		g.step(mob.Arrived{Peer: "p", Span: sp})
		if !slices.ContainsFunc(g.requested, func(r proto.Span) bool { return r.Piece == sp.Piece }) {
			g.step(mob.Stored{Piece: int(sp.Piece)})
		}
	}
	return bytes
}

// TestGrowingWants checks that a piece is requested once it has come into being and a peer has it,
// whichever is first, and with the length that it has.
func TestGrowingWants(t *testing.T) {
	t.Parallel()
	g := newGrower("A", false)
	g.have(0, 3)
	g.wait(time.Second)
	if len(g.requested) > 0 {
		t.Fatalf("requests %v before there is a hash", g.requested)
	}
	g.step(mob.Grown{First: 0, Sizes: []int{64 << 10, 100}})
	g.wait(time.Second)
	if got := g.answer(); len(got) != 2 || got[0] != 64<<10 || got[1] != 100 {
		t.Errorf("requested %v", got)
	}
	g.step(mob.Grown{First: 2, Sizes: []int{64 << 10, 64 << 10}})
	g.wait(time.Second)
	if got := g.answer(); len(got) != 1 || got[2] == 0 {
		t.Errorf("requested %v", got)
	}
	g.have(3, 1)
	g.wait(time.Second)
	if got := g.answer(); len(got) != 1 || got[3] == 0 {
		t.Errorf("requested %v", got)
	}
	if st := g.Status(); st.Have != 4 || g.finished {
		t.Errorf("status %+v, finished %v", st, g.finished)
	}
}

// TestGrowingOrder checks that earlier pieces come before later ones, but for the order of a few, from another
// cluster and from a neighbour, and that the content is not finished when the last of them is stored.
func TestGrowingOrder(t *testing.T) {
	t.Parallel()
	const pieces, slack = 1024, 128
	for _, source := range []string{"A", "B"} {
		g := newGrower(source, false)
		g.have(0, pieces)
		g.step(mob.Grown{Sizes: slices.Repeat([]int{64 << 10}, pieces)})
		var order []int
		for range 10 * pieces {
			if len(g.requested) == 0 {
				g.wait(10 * time.Millisecond)
				continue
			}
			sp := g.requested[0]
			g.requested = g.requested[1:]
			g.step(mob.Arrived{Peer: "p", Span: sp})
			if int(sp.Begin+sp.Length) == 64<<10 {
				order = append(order, int(sp.Piece))
				g.step(mob.Stored{Piece: int(sp.Piece)})
			}
		}
		if len(order) != pieces || g.finished {
			t.Fatalf("%d pieces of %d from %s, finished %v", len(order), pieces, source, g.finished)
		}
		random := false
		for at, i := range order {
			random = random || i != at
			if i < at-slack || i > at+slack {
				t.Errorf("piece %d came from %s in place of %d", i, source, at)
			}
		}
		if !random {
			t.Errorf("all nodes request the same piece of %s at a time", source)
		}
	}
}

// TestGrowingSource checks that the source announces pieces as they come, and withdraws what it forgets.
func TestGrowingSource(t *testing.T) {
	t.Parallel()
	g := newGrower("A", true)
	g.step(mob.Received{Peer: "p", Message: &proto.Want{Pieces: []proto.Range{{Count: 1024}}}})
	for i := range 3 {
		if got := g.step(mob.Stored{Piece: i}); len(got) != 1 || got[0] != (proto.Range{First: uint32(i), Count: 1}) {
			t.Errorf("announced %v of piece %d", got, i)
		}
	}
	g.have(5, 3)
	g.step(mob.Withheld{Range: proto.Range{Count: 2}})
	g.wait(time.Second)
	if len(g.dropped) != 1 || g.dropped[0] != (proto.Range{Count: 2}) {
		t.Errorf("dropped %v", g.dropped)
	}
	if len(g.requested) > 0 || g.finished {
		t.Errorf("requested %v, finished %v", g.requested, g.finished)
	}
}

// TestGrowingSpares checks that a member is requested what it alone has, of whatever run, before what
// others have as well: else all wait for it while it sends pieces again.
func TestGrowingSpares(t *testing.T) {
	t.Parallel()
	const shared, alone = 100, 150
	now := time.Unix(1e9, 0)
	s := mob.New(mob.Config{
		Self: "n", Cluster: "B", Length: 1024 * (64 << 10), PieceLength: 64 << 10,
		Growing: true, Seed: 1, Tuning: mob.DefaultTuning(),
	}, nil)
	var requested []uint32 // of the source
	step := func(ev mob.Event) {
		now = now.Add(time.Millisecond)
		for _, a := range s.Step(now, ev) {
			send, ok := a.(mob.Send)
			if !ok || send.Peer != "source" {
				continue
			}
			if r, ok := send.Message.(*proto.Request); ok {
				requested = append(requested, r.Piece)
			}
		}
	}
	step(mob.Learned{})
	for id, n := range map[proto.PeerID]uint32{"source": shared + alone, "other": shared} {
		step(mob.Joined{Node: mob.Node{ID: id, Cluster: "B"}})
		step(mob.Received{Peer: id, Message: &proto.Have{Have: []proto.Range{{Count: n}}}})
	}
	step(mob.Grown{Sizes: slices.Repeat([]int{64 << 10}, shared+alone)})
	if len(requested) == 0 {
		t.Fatal("nothing is requested of the source")
	}
	for _, i := range requested {
		if i < shared {
			t.Errorf("piece %d is requested of the source", i)
		}
	}
}

// TestGrowingPassed checks that a node that is far behind a neighbour leaves the source to it, but for what the
// neighbour does not offer any more: nobody else would fetch that. Once it is not behind it fetches the rest.
func TestGrowingPassed(t *testing.T) {
	t.Parallel()
	const first, count, shared, all = 100, 10, 450, 500
	g := newGrower("A", false)
	of := map[proto.PeerID][]proto.Span{}
	step := func(ev mob.Event) {
		g.now = g.now.Add(time.Millisecond)
		for _, a := range g.Step(g.now, ev) {
			if send, ok := a.(mob.Send); ok {
				if r, ok := send.Message.(*proto.Request); ok {
					of[send.Peer] = append(of[send.Peer], r.Span)
				}
			}
		}
	}
	tell := func(who proto.PeerID, m proto.Have) { step(mob.Received{Peer: who, Message: &m}) }
	wait := func() {
		for range 3 { // not so long that the neighbour, which answers nothing, does not count
			g.now = g.now.Add(100 * time.Millisecond)
			step(mob.Tick{})
		}
	}
	// answer has what was requested of a peer arrive, and returns which pieces that were.
	answer := func(who proto.PeerID) (pieces []int) {
		for len(of[who]) > 0 {
			sp := of[who][0]
			of[who] = of[who][1:]
			step(mob.Arrived{Peer: who, Span: sp})
			if i := int(sp.Piece); sp.Begin+sp.Length == 64<<10 {
				step(mob.Stored{Piece: i})
				pieces = append(pieces, i)
			}
		}
		return pieces
	}
	step(mob.Joined{Node: mob.Node{ID: "other", Cluster: "B"}})
	tell("other", proto.Have{Have: []proto.Range{{Count: shared}}})
	step(mob.Grown{Sizes: slices.Repeat([]int{64 << 10}, all)})
	wait()
	tell("p", proto.Have{Have: []proto.Range{{Count: all}}})
	wait()
	if len(of["other"]) == 0 || len(of["p"]) > 0 {
		t.Fatalf("requests %v of the neighbour, and %v of the source", of["other"], of["p"])
	}
	tell("other", proto.Have{Drop: []proto.Range{{First: first, Count: count}}})
	wait()
	got := answer("p")
	if len(got) != count || slices.Min(got) != first || slices.Max(got) != first+count-1 {
		t.Errorf("requests %v of the source, want what the neighbour has dropped", got)
	}
	answer("other")
	got = nil
	for range 10 { // half of them are the turn of the neighbour
		wait()
		got = append(got, answer("p")...)
	}
	if len(got) != all-shared || slices.Min(got) != shared {
		t.Errorf("requests %v of the source, want what the neighbour never had", got)
	}
	if have := g.Status().Have; have != all {
		t.Errorf("has %d of %d pieces", have, all)
	}
}
