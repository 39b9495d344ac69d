package permutation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// node is a state under test, and its time.
type node struct {
	*State
	t   *testing.T
	now time.Time
}

func newNode(t *testing.T, cfg Config) *node {
	cfg.Cluster, cfg.Seed = "A", 1
	if cfg.Strategy == proto.ReceiverDriven {
		cfg.Strategy = proto.Sequential
	}
	return &node{New(cfg), t, time.Unix(1, 0)}
}

// meet makes node 0 of n, which all others have joined.
func meet(t *testing.T, n int, cfg Config) *node {
	members := ids(n)
	cfg.Self = members[0]
	s := newNode(t, cfg)
	s.adopt("the source", permutation(1, n))
	for _, id := range members[1:] {
		s.join(id, false)
	}
	return s
}

// permutation is one of the first n nodes.
func permutation(version uint64, n int) *proto.Permutation {
	return &proto.Permutation{Version: version, Seed: 1, Members: ids(n), Since: make([]uint32, n)}
}

func (n *node) do(ev mob.Event) []mob.Action {
	n.now = n.now.Add(time.Millisecond)
	return slices.Clone(n.Step(n.now, ev))
}

func (n *node) join(id proto.PeerID, whole bool) []mob.Action {
	return n.do(mob.Joined{Node: mob.Node{ID: id, Cluster: "A"}, Whole: whole})
}

func (n *node) hear(id proto.PeerID, m proto.Message) []mob.Action {
	return n.do(mob.Received{Peer: id, Message: m})
}

// complete has a peer tell that it needs no more of a generation.
func (n *node) complete(id proto.PeerID, g int) []mob.Action {
	return n.hear(id, &proto.Decoded{Generations: only(g)})
}

// rest lets time pass.
func (n *node) rest() []mob.Action {
	n.now = n.now.Add(time.Second)
	return n.do(mob.Tick{})
}

// find returns the actions of a kind.
func find[A mob.Action](as []mob.Action) (found []A) {
	for _, a := range as {
		if a, ok := a.(A); ok {
			found = append(found, a)
		}
	}
	return found
}

// sent returns the messages of a kind, by receiver.
func sent[M proto.Message](as []mob.Action) map[proto.PeerID]M {
	found := map[proto.PeerID]M{}
	for _, a := range find[mob.Send](as) {
		if m, ok := a.Message.(M); ok {
			found[a.Peer] = m
		}
	}
	return found
}

// pushed wants one push.
func (n *node) pushed(as []mob.Action) mob.Push {
	n.t.Helper()
	ps := find[mob.Push](as)
	if len(ps) != 1 {
		n.t.Fatalf("it does %s, want one push", describe(as))
	}
	return ps[0]
}

// none wants no push.
func (n *node) none(as []mob.Action) {
	n.t.Helper()
	if len(find[mob.Push](as)) > 0 {
		n.t.Fatalf("it does %s, want no push", describe(as))
	}
}

func describe(as []mob.Action) string {
	if len(as) == 0 {
		return "nothing"
	}
	s := ""
	for _, a := range as {
		s += fmt.Sprintf("%T%+v ", a, a)
	}
	return s
}
