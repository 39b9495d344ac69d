package mixed

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

// The content of these tests has six generations of 16 blocks, which make 4 MiB: two are
// begun at a time.
const (
	k, names, generations = 16, 32, 6
	block                 = 256 << 10
)

func config(self proto.PeerID) Config {
	return Config{Config: mob.Config{
		Self: self, Cluster: "B", Length: generations * k * block, PieceLength: block,
		Coding: mob.Coding{Blocks: k, Names: names, Live: 4}, Seed: 1, Tuning: mob.DefaultTuning(),
	}}
}

// node is a state under test, and its time.
type node struct {
	*State
	now time.Time
}

func newNode(self proto.PeerID) *node { return &node{New(config(self)), time.Unix(1, 0)} }

func (n *node) do(ev mob.Event) []mob.Action {
	n.now = n.now.Add(time.Millisecond)
	return slices.Clone(n.Step(n.now, ev))
}

// rest lets time pass.
func (n *node) rest(d time.Duration) (as []mob.Action) {
	for end := n.now.Add(d); n.now.Before(end); {
		n.now = n.now.Add(50 * time.Millisecond)
		as = append(as, n.Step(n.now, mob.Tick{})...)
	}
	return as
}

func (n *node) hear(id proto.PeerID, m proto.Message) []mob.Action {
	return n.do(mob.Received{Peer: id, Message: m})
}

// meet has a member join that has nothing, and wants everything; it speaks of pieces.
func (n *node) meet(id proto.PeerID) (as []mob.Action) {
	for _, ev := range []mob.Event{
		mob.Learned{},
		mob.Joined{Node: mob.Node{ID: id, Cluster: "B", Plain: true}},
		mob.Received{Peer: id, Message: &proto.Want{Pieces: []proto.Range{{Count: generations * names}}}},
		mob.Received{Peer: id, Message: &proto.Have{}},
	} {
		as = append(as, n.do(ev)...)
	}
	return as
}

// find has a source join in another cluster.
func (n *node) find(id proto.PeerID) []mob.Action {
	return n.do(mob.Joined{Node: mob.Node{ID: id, Cluster: "A"}, Whole: true})
}

// sent are the messages of a kind to a peer.
func sent[M proto.Message](as []mob.Action, to proto.PeerID) (ms []M) {
	for _, a := range as {
		if a, ok := a.(mob.Send); ok && a.Peer == to {
			if m, ok := a.Message.(M); ok {
				ms = append(ms, m)
			}
		}
	}
	return ms
}

// asked are the generations of which blocks are asked of a peer.
func asked(as []mob.Action, of proto.PeerID) (gens []int) {
	for _, m := range sent[*proto.Request](as, of) {
		if g := int(m.Piece) / names; !slices.Contains(gens, g) {
			gens = append(gens, g)
		}
	}
	slices.Sort(gens)
	return gens
}

// claimed and dropped are the generations of which source blocks are claimed, or are not any
// more, and how many of them.
func claimed(as []mob.Action, to proto.PeerID) map[int]int {
	return count(as, to, func(m *proto.Have) []proto.Range { return m.Claim })
}

func dropped(as []mob.Action, to proto.PeerID) map[int]int {
	return count(as, to, func(m *proto.Have) []proto.Range { return m.Drop })
}

func count(as []mob.Action, to proto.PeerID, of func(*proto.Have) []proto.Range) map[int]int {
	gens := map[int]int{}
	for _, m := range sent[*proto.Have](as, to) {
		pieceset.Each(of(m), generations*names, func(i int) {
			if i%names < k {
				gens[i/names]++
			}
		})
	}
	return gens
}

// pong answers the last ping that followed a promise.
func (n *node) pong(id proto.PeerID, as []mob.Action) []mob.Action {
	var nonce uint64
	for _, m := range sent[*proto.Ping](as, id) {
		nonce = max(nonce, m.Nonce)
	}
	return n.hear(id, &proto.Pong{Nonce: nonce})
}

// begun is a node that has promised two generations to p, and asks for them.
func begun(t *testing.T, self, p proto.PeerID) (n *node, gens []int) {
	t.Helper()
	n = newNode(self)
	as := append(n.meet(p), n.find("s")...)
	for g, c := range claimed(as, p) {
		if c != k {
			t.Fatalf("%d blocks of generation %d are claimed", c, g)
		}
		gens = append(gens, g)
	}
	slices.Sort(gens)
	if len(gens) != leastBegun || len(asked(as, "s")) > 0 {
		t.Fatalf("generations %v are claimed, and %v asked for before that was heard", gens, asked(as, "s"))
	}
	n.mustAsk(t, n.pong(p, as), gens)
	return n, gens
}

// mustAsk wants the node to ask the source for blocks of some generations, and of no
// others.
func (n *node) mustAsk(t *testing.T, as []mob.Action, gens []int) {
	t.Helper()
	got := asked(as, "s")
	for _, g := range got {
		if !slices.Contains(gens, g) {
			t.Errorf("generation %d is asked for, not one of %v", g, gens)
		}
	}
	var open []int
	for g := range n.gens {
		if n.gens[g].open {
			open = append(open, g)
		}
	}
	if len(got) == 0 || !slices.Equal(open, gens) {
		t.Errorf("generations %v are asked for, the State knows who has %v, want %v", got, open, gens)
	}
}

// Only what was promised is asked for, and when it is there something else is promised.
func TestPromisesWhatItFetches(t *testing.T) {
	n, gens := begun(t, "m", "p")
	as := n.do(mob.Decoded{Generation: gens[0]})
	more := claimed(as, "p")
	if len(more) != 1 || more[gens[0]] > 0 || more[gens[1]] > 0 {
		t.Fatalf("%v are promised in the place of generation %d", more, gens[0])
	}
	for _, g := range asked(as, "s") {
		if g != gens[1] {
			t.Errorf("generation %d is asked for before anybody heard of it", g)
		}
	}
	// Pieces of the first may be fetched from here.
	if d := dropped(as, "p"); d[gens[0]] > 0 {
		t.Errorf("the node says that it does not have generation %d", gens[0])
	}
}

// What a member has or claims is not promised, and what nobody claims comes first.
func TestLeavesToMembersWhatTheyHave(t *testing.T) {
	n := newNode("m")
	as := n.meet("p")
	var claims []proto.Range
	for g := range generations - 2 {
		claims = append(claims, proto.Range{First: uint32(g * names), Count: 3})
	}
	as = append(as, n.hear("p", &proto.Have{Claim: claims[2:], Have: claims[:1]})...)
	as = append(as, n.find("s")...)
	if got := claimed(as, "p"); !reflect.DeepEqual(got, map[int]int{0: k - 3, 1: k}) {
		t.Errorf("blocks of generations %v are promised", got)
	}
}

// A member that does not answer is waited for once.
func TestSilentMember(t *testing.T) {
	n := newNode("m")
	as := append(n.meet("p"), n.find("s")...)
	if got := asked(append(as, n.rest(hearing/2)...), "s"); len(got) > 0 {
		t.Fatalf("generations %v are asked for too soon", got)
	}
	gens := slices.Clone(n.under)
	slices.Sort(gens)
	n.mustAsk(t, n.rest(hearing), gens)
	n.do(mob.Decoded{Generation: gens[0]})
	for _, g := range n.under {
		if !n.gens[g].open {
			t.Errorf("the node waits with generation %d for who did not answer before", g)
		}
	}
}

// A member that wishes to hear of nothing is told of no promise, and is not waited for. When it
// does anew it hears of all.
func TestSatedMember(t *testing.T) {
	n := newNode("m")
	as := n.meet("p")
	as = append(as, n.meet("w")...)
	as = append(as, n.hear("w", &proto.Want{})...)
	as = append(as, n.find("s")...)
	if c, pings := claimed(as, "w"), sent[*proto.Ping](as, "w"); len(c) > 0 || slices.ContainsFunc(pings, marked) {
		t.Fatalf("%v is claimed to who wishes to hear of nothing, and it is asked whether it heard", c)
	}
	gens := slices.Sorted(slices.Values(n.under))
	n.mustAsk(t, n.pong("p", as), gens)
	as = n.hear("w", &proto.Want{Pieces: []proto.Range{{Count: generations * names}}})
	if got, want := claimed(as, "w"), (map[int]int{gens[0]: k, gens[1]: k}); !reflect.DeepEqual(got, want) {
		t.Errorf("%v is claimed to who wishes to hear of all again, want %v", got, want)
	}
	if as := n.do(mob.Decoded{Generation: gens[0]}); !slices.ContainsFunc(sent[*proto.Ping](as, "w"), marked) {
		t.Error("it is not asked whether it heard of the next promise")
	}
}

// marked says whether a ping follows a promise.
func marked(m *proto.Ping) bool { return m.Nonce&mark != 0 }

// Of two claims that cross the one with the lesser id holds.
func TestCrossingClaims(t *testing.T) {
	for _, tt := range []struct {
		p    proto.PeerID
		want int
	}{{"a", 2}, {"z", 0}} {
		n, gens := begun(t, "m", tt.p)
		as := n.hear(tt.p, &proto.Have{Claim: []proto.Range{{First: uint32(gens[0]*names + 3), Count: 2}}})
		if got := dropped(as, tt.p)[gens[0]]; got != tt.want {
			t.Errorf("%d claims are given up for %s, want %d", got, tt.p, tt.want)
		}
	}
}

// What a member gives up the node promises in its place.
func TestTakesUpWhatIsGivenUp(t *testing.T) {
	n, gens := begun(t, "m", "a")
	rs := []proto.Range{{First: uint32(gens[0]*names + 3), Count: 2}}
	n.hear("a", &proto.Have{Claim: rs})
	if got := claimed(n.hear("a", &proto.Have{Drop: rs}), "a"); got[gens[0]] != 2 {
		t.Errorf("%v is promised of what was given up", got)
	}
}

// When nothing comes promises lapse, and anything may be asked for; they are given again
// when something comes over the WAN.
func TestPromisesLapse(t *testing.T) {
	n, gens := begun(t, "m", "p")
	var as []mob.Action
	for range 2 * int(n.cfg.Tuning.Stall/time.Second) {
		as = append(as, n.rest(time.Second)...)
		n.hear("s", &proto.Ping{})
		n.hear("p", &proto.Ping{})
	}
	as = append(as, n.rest(time.Second)...)
	want := map[int]int{gens[0]: k, gens[1]: k}
	if got := dropped(as, "p"); !reflect.DeepEqual(got, want) {
		t.Fatalf("promises %v lapse, want %v", got, want)
	}
	for _, tt := range []struct {
		from proto.PeerID
		want map[int]int
	}{{"p", map[int]int{}}, {"s", want}} {
		as = n.do(mob.Arrived{Peer: tt.from, Span: proto.Span{Piece: uint32(gens[0] * names), Length: block}})
		if got := claimed(as, "p"); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("when a block comes from %s %v is promised, want %v", tt.from, got, tt.want)
		}
	}
}

// flow lets time pass in which nothing comes but blocks over the LAN, and the source, if it
// is there, and the members answer.
func (n *node) flow(d time.Duration, from proto.PeerID) (as []mob.Action) {
	for end, i := n.now.Add(d), 0; n.now.Before(end); i++ {
		as = append(as, n.rest(500*time.Millisecond)...)
		as = append(as, n.do(mob.Arrived{Peer: from, Span: proto.Span{Piece: uint32(i), Length: block}})...)
		as = append(as, n.do(mob.Stored{Piece: i})...)
		n.hear("s", &proto.Ping{})
		n.hear(from, &proto.Ping{})
	}
	return as
}

// Others wait for what was promised, and blocks that come over the LAN do not bring it
// nearer: the promise lapses when none comes over the WAN, and is given back when nobody is
// left who could send any.
func TestPromiseIsNotKeptByTheLAN(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		n, gens := begun(t, "m", "p")
		var as []mob.Action
		if leaves {
			as = n.do(mob.Left{Peer: "s"})
		}
		as = append(as, n.flow(5*n.cfg.Tuning.Stall, "p")...)
		want := map[int]int{gens[0]: k, gens[1]: k}
		if got := dropped(as, "p"); !reflect.DeepEqual(got, want) || n.promised.Len() > 0 {
			t.Errorf("the source leaves: %v; promises %v are given up, want %v; %d are left", leaves, got, want, n.promised.Len())
		}
		if !leaves {
			continue
		}
		// When another source comes the generations are begun as at first.
		as = n.find("s")
		if got := claimed(as, "p"); len(got) != leastBegun || len(asked(as, "s")) > 0 {
			t.Errorf("%v is promised anew, and %v asked for before that was heard", got, asked(as, "s"))
		}
	}
}

// A source that is slow, as it was before, keeps the promise.
func TestPromiseIsKeptBySlowSource(t *testing.T) {
	n, _ := begun(t, "m", "p")
	want := n.promised.Len()
	as := n.do(mob.Tick{})
	for range 4 {
		as = append(as, n.flow(2*time.Second, "p")...)
		number := uint32(n.under[0]*names + 1)
		n.do(mob.Arrived{Peer: "s", Span: proto.Span{Piece: number, Length: block}})
	}
	as = append(as, n.flow(3*n.cfg.Tuning.Stall, "p")...)
	if got := dropped(as, "p"); len(got) > 0 || n.promised.Len() != want {
		t.Errorf("promises %v are given up, %d of %d are left", got, n.promised.Len(), want)
	}
}

// Of what is taken back members still know what is here.
func TestTakesBackNoBlocks(t *testing.T) {
	n, gens := begun(t, "m", "p")
	there := gens[0]*names + 1
	n.do(mob.Stored{Piece: there})
	as := append(n.do(mob.Left{Peer: "s"}), n.rest(2*n.cfg.Tuning.Stall)...)
	if got, want := dropped(as, "p"), (map[int]int{gens[0]: k, gens[1]: k}); !reflect.DeepEqual(got, want) {
		t.Fatalf("promises %v are given up, want %v", got, want)
	}
	have := false
	for _, m := range sent[*proto.Have](as, "p") {
		pieceset.Each(m.Drop, generations*names, func(i int) { have = have && i != there })
		pieceset.Each(m.Have, generations*names, func(i int) { have = have || i == there })
	}
	if !have {
		t.Errorf("block %d is dropped, and is here", there)
	}
}

// What members got while they heard of a promise is not promised any more, and when they lose
// it, it is promised as at first.
func TestGivesBackWhatMembersHave(t *testing.T) {
	n := newNode("m")
	n.meet("p")
	n.find("s")
	g := n.under[0]
	rs := []proto.Range{{First: uint32(g * names), Count: k}}
	if got := dropped(n.hear("p", &proto.Have{Have: rs}), "p"); got[g] != k {
		t.Errorf("%v is given back, want all of generation %d", got, g)
	}
	n.mustCount(t)
	for h := range generations {
		if h != g {
			n.do(mob.Decoded{Generation: h})
		}
	}
	as := n.hear("p", &proto.Have{Drop: rs})
	if got := claimed(as, "p"); got[g] != k || len(sent[*proto.Ping](as, "p")) == 0 || len(asked(as, "s")) > 0 {
		t.Errorf("%v is promised, %v asked for", got, asked(as, "s"))
	}
	n.mustAsk(t, n.pong("p", as), []int{g})
}

// Without anybody to fetch from nothing lapses, and nothing is promised.
func TestWaitsForASource(t *testing.T) {
	n := newNode("m")
	as := append(n.meet("p"), n.rest(time.Minute)...)
	if c, d := claimed(as, "p"), dropped(as, "p"); len(c)+len(d) > 0 {
		t.Errorf("claimed %v, dropped %v", c, d)
	}
}

// What a member claims that has fallen silent the node fetches.
func TestSilentMembersClaimsLapse(t *testing.T) {
	n := newNode("m")
	n.meet("p")
	n.hear("p", &proto.Have{Claim: []proto.Range{{Count: generations * names}}})
	as := n.find("s")
	if got := claimed(as, "p"); len(got) > 0 {
		t.Fatalf("%v is promised, though a member claims it", got)
	}
	as = nil
	for range 2 * int(n.cfg.Tuning.Stall/time.Second) {
		as = append(as, n.rest(time.Second)...)
		as = append(as, n.hear("s", &proto.Ping{})...)
	}
	if got := asked(append(as, n.rest(2*hearing)...), "s"); len(got) == 0 {
		t.Error("the node waits for a member that is silent")
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

// What a member refuses, or sent wrong, is fetched as if it did not have it.
func TestRefusedByMember(t *testing.T) {
	for _, wrong := range []bool{false, true} {
		n := newNode("m")
		n.meet("p")
		n.find("s")
		n.hear("p", &proto.Have{Have: []proto.Range{{Count: generations * names}}})
		const refused = 2*names + 3
		ev := mob.Event(mob.Received{Peer: "p", Message: &proto.Reject{Span: proto.Span{Piece: refused, Length: block}}})
		if wrong {
			ev = mob.Failed{Piece: refused, Sources: []proto.PeerID{"p"}}
		}
		if got := claimed(n.do(ev), "p"); !reflect.DeepEqual(got, map[int]int{2: 1}) {
			t.Errorf("wrong: %v; %v is promised, want one block of generation 2", wrong, got)
		}
		n.mustCount(t)
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

// A block that brought nothing is not asked for again; its piece comes from here all the
// same.
func TestPromiseOutlastsABlock(t *testing.T) {
	n := newNode("m")
	as := append(n.meet("p"), n.find("s")...)
	as = append(as, n.pong("p", as)...)
	for range 2 * k {
		var next []mob.Action
		for _, m := range sent[*proto.Request](as, "s") {
			next = append(next, n.do(mob.Arrived{Peer: "s", Span: m.Span})...)
			next = append(next, n.do(mob.Useless{Peer: "s", Piece: int(m.Piece)})...)
		}
		as = append(next, n.rest(100*time.Millisecond)...)
		for g, c := range dropped(as, "p") {
			if again := claimed(as, "p")[g]; again < c {
				t.Fatalf("%d promises of generation %d are taken back, and %d given again", c, g, again)
			}
		}
	}
}
