package mixed

import (
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
