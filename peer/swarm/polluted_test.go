package swarm_test

import (
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestPollutingMember has a member that signs false blocks: everybody gets the content, and
// names that member and nobody else.
func TestPollutingMember(t *testing.T) {
	t.Parallel()
	p := peertest.NewPolluter()
	nodes := peertest.Clusters(t, 2, 3, peertest.At(1, peertest.WithPolluter(p)))
	_, link, content := peertest.SeedRandom(t, nodes[0], 12<<20, peer.SeedOptions{Coded: 16})
	// The polluter is whole before the others come, so that it is asked for much.
	polluter := nodes[1].Host().ID()
	peertest.WaitEqual(t, peertest.GetAll(t, nodes[1:2], link), content)
	p.On.Store(true)
	gets := peertest.GetAll(t, nodes[2:], link)
	peertest.WaitEqual(t, gets, content)
	named := 0
	for i, g := range gets {
		names := g.Status().Liars
		// A block that comes last may be of no use, and is not verified then.
		if n := p.SentTo(nodes[i+2].Host().ID()); n > 4 && len(names) == 0 {
			t.Errorf("the polluter sent %d blocks to a node that does not name it", n)
		}
		for _, name := range names {
			named++
			if name != polluter.String() {
				t.Errorf("%s is named, and is honest", name)
			}
		}
	}
	t.Logf("%d false blocks, named by %d of %d", p.Sent.Load(), named, len(gets))
	if p.Sent.Load() == 0 {
		t.Fatal("nobody asked the polluter for anything")
	}
	if named == 0 {
		t.Error("nobody named the polluter")
	}
}

// TestSybil has a member that signs each of its false blocks with a new key: everybody gets the content,
// and those that it sent much to ban it. A member that passed such blocks on before they were found
// to be false may be banned too.
func TestSybil(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	t.Parallel()
	p := peertest.NewSybil()
	log := new(peertest.Recorder)
	nodes := peertest.Clusters(t, 2, 3, peertest.At(1, peertest.WithPolluter(p)),
		peertest.At(2, peertest.Log(log.Logger())), peertest.At(3, peertest.Log(log.Logger())),
		peertest.At(4, peertest.Log(log.Logger())), peertest.At(5, peertest.Log(log.Logger())))
	_, link, content := peertest.SeedRandom(t, nodes[0], 24<<20, peer.SeedOptions{Coded: 8})
	// It is whole before the others come, so that it is asked for much.
	peertest.WaitEqual(t, peertest.GetAll(t, nodes[1:2], link), content)
	p.On.Store(true)
	peertest.WaitEqual(t, peertest.GetAll(t, nodes[2:], link), content)
	id := nodes[1].Host().ID()
	most := int64(0)
	for _, n := range nodes[2:] {
		most = max(most, p.SentTo(n.Host().ID()))
	}
	dropped := log.Count("peer dropped")
	t.Logf("%d false blocks, at most %d to one node; %d bans", p.Sent.Load(), most, dropped)
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "peer dropped") && !strings.Contains(line, id.String()) {
			t.Logf("an honest peer was dropped: %s", line)
		}
	}
	if dropped == 0 && most > 200 {
		t.Errorf("%d false blocks went to one node, and nobody banned the polluter", most)
	}
}

// TestTamperingRelay has a member that changes the blocks which it passes on: they are
// refused, and the nodes that made them are not blamed.
func TestTamperingRelay(t *testing.T) {
	t.Parallel()
	p := peertest.NewTamperer()
	p.On.Store(true)
	nodes := peertest.Clusters(t, 2, 2, peertest.At(2, peertest.WithPolluter(p)))
	_, link, content := peertest.SeedRandom(t, nodes[0], 24<<20, peer.SeedOptions{Coded: 64})
	relay := nodes[2]
	gets := peertest.GetAll(t, []*peer.Node{relay, nodes[1], nodes[3]}, link)
	peertest.WaitEqual(t, gets, content)
	namesNobody(t, gets)
	if p.Sent.Load() == 0 {
		t.Error("nobody asked the relay for blocks of others")
	}
}
