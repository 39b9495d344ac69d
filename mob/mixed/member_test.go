package mixed

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

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
