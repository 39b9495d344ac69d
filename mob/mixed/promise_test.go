package mixed

import (
	"reflect"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

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
