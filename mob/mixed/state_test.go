package mixed

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// Without anybody to fetch from nothing lapses, and nothing is promised.
func TestWaitsForASource(t *testing.T) {
	n := newNode("m")
	as := append(n.meet("p"), n.rest(time.Minute)...)
	if c, d := claimed(as, "p"), dropped(as, "p"); len(c)+len(d) > 0 {
		t.Errorf("claimed %v, dropped %v", c, d)
	}
}

// A generation that turned out to be wrong is repaired, whoever was to fetch it.
func TestWrongGenerationIsOpen(t *testing.T) {
	n, gens := begun(t, "m", "p")
	other := 0
	for slices.Contains(gens, other) {
		other++
	}
	if as := n.do(mob.Polluted{Generation: other}); claimed(as, "p")[other] != k || !n.gens[other].open {
		t.Errorf("it is promised: %v; %+v", claimed(as, "p"), n.gens[other])
	}
}

// Of a source that joins the State hears what is open: nothing before members have heard of
// the promise.
func TestSecondSource(t *testing.T) {
	n := newNode("m")
	as := append(n.meet("p"), n.find("s")...)
	n.find("t")
	if got := has(t, n.State.State.Status(), "t"); got > 0 {
		t.Errorf("the State knows of %d blocks of a source before a promise was heard", got)
	}
	n.pong("p", as)
	n.find("u")
	if got, want := has(t, n.State.State.Status(), "u"), leastBegun*names; got != want {
		t.Errorf("the State knows of %d blocks of a source, want %d", got, want)
	}
}

// Who was silent when promises lapsed is heard like the others when it speaks again.
func TestSilentSourceSpeaksAfterLapse(t *testing.T) {
	n := newNode("m")
	n.find("s")
	n.rest(2 * time.Second)
	n.meet("p")
	for !n.lapsed {
		if n.rest(time.Second); n.now.Sub(n.far["s"].heard) > n.cfg.Tuning.Dead {
			t.Fatal("nothing lapses")
		}
		n.hear("p", &proto.Ping{})
	}
	if !n.far["s"].late {
		t.Fatal("the State was told of a source that is silent")
	}
	n.hear("s", &proto.Ping{})
	if got, want := has(t, n.State.State.Status(), "s"), generations*names; got != want {
		t.Errorf("the State knows of %d blocks of the source, want all %d", got, want)
	}
}

// Who sent a wrong block is found when the generation is decoded, which is whole then.
func TestFaultInWholeGeneration(t *testing.T) {
	n, gens := begun(t, "m", "p")
	n.do(mob.Decoded{Generation: gens[0]})
	as := n.do(mob.Failed{Piece: gens[0] * names, Sources: []proto.PeerID{"p"}})
	if got := claimed(as, "p"); got[gens[0]] > 0 || !n.gens[gens[0]].whole {
		t.Errorf("%v is promised; %+v", got, n.gens[gens[0]])
	}
}

// While all code in the same way the State behind does everything.
func TestNothingElseWhileAllCodeAlike(t *testing.T) {
	cfg := config("m")
	behind, n := mob.New(cfg.Config, nil), New(cfg)
	now, r := time.Unix(1, 0), rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		now = now.Add(time.Duration(r.IntN(20)) * time.Millisecond)
		ev := random(r, false)
		want, got := behind.Step(now, ev), n.Step(now, ev)
		if len(want)+len(got) > 0 && !reflect.DeepEqual(want, got) {
			t.Fatalf("%#v: %#v, want %#v", ev, got, want)
		}
		if d := n.Wake(); d != behind.Wake() {
			t.Fatalf("wakes after %v, want %v", d, behind.Wake())
		}
	}
}

// random is an event that might happen; plain members are among the peers or not.
func random(r *rand.Rand, plain bool) mob.Event {
	id := proto.PeerID([]string{"a", "b", "y", "z"}[r.IntN(4)])
	ranges := func() (rs []proto.Range) {
		for range r.IntN(3) {
			first := r.IntN(generations * names)
			rs = append(rs, proto.Range{First: uint32(first), Count: uint32(1 + r.IntN(40))})
		}
		return rs
	}
	number := r.IntN(generations * names)
	switch r.IntN(18) {
	case 0:
		return mob.Joined{Node: mob.Node{ID: id, Cluster: string(rune('A' + r.IntN(2))), Plain: plain && r.IntN(2) == 0}, Whole: r.IntN(3) == 0}
	case 1:
		return mob.Left{Peer: id}
	case 2:
		return mob.Decoded{Generation: r.IntN(generations)}
	case 3:
		return mob.Polluted{Generation: r.IntN(generations)}
	case 4:
		return mob.Lost{Piece: number}
	case 5:
		return mob.Failed{Piece: number, Sources: []proto.PeerID{id}[:r.IntN(2)]}
	case 6:
		return mob.Useless{Peer: id, Piece: number}
	case 7, 8:
		return mob.Stored{Piece: number}
	case 9:
		return mob.Learned{}
	case 10:
		return mob.Received{Peer: id, Message: &proto.Want{Pieces: []proto.Range{{Count: generations * names}}[:r.IntN(2)]}}
	case 11:
		return mob.Received{Peer: id, Message: &proto.Pong{Nonce: mark | uint64(r.IntN(40))}}
	case 12:
		return mob.Tick{}
	case 13:
		return mob.Received{Peer: id, Message: &proto.Reject{Span: proto.Span{Piece: uint32(number), Length: block}}}
	case 14:
		return mob.Arrived{Peer: id, Span: proto.Span{Piece: uint32(number), Length: block}}
	}
	return mob.Received{Peer: id, Message: &proto.Have{Have: ranges(), Claim: ranges(), Drop: ranges()}}
}

// Whatever comes, the node counts right, promises nothing that a member claims, and has
// begun what it promises.
func TestCounts(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		n := newNode("m")
		for range 400 {
			n.now = n.now.Add(time.Duration(r.IntN(300)) * time.Millisecond)
			n.Step(n.now, random(r, true))
			n.mustCount(t)
		}
	}
}

func (n *node) mustCount(t *testing.T) {
	t.Helper()
	for i := range generations * names {
		var claims, holders uint16
		for _, o := range n.members {
			if o.claims.Has(i) {
				claims++
			}
			if o.have.Has(i) {
				holders++
			}
		}
		if claims != n.claims[i] || holders != n.holders[i] {
			t.Fatalf("%d claim block %d and %d have it, the node counts %d and %d", claims, i, holders, n.claims[i], n.holders[i])
		}
		if gen := n.gens[n.of(i)]; n.promised.Has(i) && (claims > 0 || gen.whole || !gen.begun) {
			t.Fatalf("block %d is promised: %d claim it, %+v", i, claims, gen)
		}
	}
	for g, gen := range n.gens {
		if gen.begun != slices.Contains(n.under, g) {
			t.Fatalf("generation %d is %+v, and %v are under way", g, gen, n.under)
		}
	}
}

// What the source tells of generations that were not promised the State does not hear.
func TestHidesWhatIsNotPromised(t *testing.T) {
	n, gens := begun(t, "m", "p")
	n.hear("s", &proto.Have{Have: []proto.Range{{Count: generations * names}}})
	if got, want := has(t, n.State.State.Status(), "s"), len(gens)*names; got != want {
		t.Errorf("the State knows of %d blocks of the source, want %d, those of generations %v", got, want, gens)
	}
	if got, want := has(t, n.Status(), "s"), generations*names; got != want {
		t.Errorf("of the source's blocks %d are shown, want %d", got, want)
	}
}

// has is how many blocks a peer has, which must be listed once.
func has(t *testing.T, st mob.Status, id proto.PeerID) (blocks int) {
	t.Helper()
	hits := 0
	for _, p := range st.Peers {
		if p.ID == id {
			hits++
			blocks = p.Have
		}
	}
	if hits != 1 {
		t.Fatalf("%s is listed %d times", id, hits)
	}
	return blocks
}
