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
		names := g.Status().Polluters
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
// and whoever the member sent some of these bans it, and nobody else.
func TestSybil(t *testing.T) {
	t.Parallel()
	p := peertest.NewSybil()
	logs := make([]peertest.Recorder, 6)
	var opts []peertest.Option
	for i := range logs {
		opts = append(opts, peertest.At(i, peertest.Log(logs[i].Logger())))
	}
	nodes := peertest.Clusters(t, 2, 3, append(opts, peertest.At(1, peertest.WithPolluter(p)))...)
	_, link, content := peertest.SeedRandom(t, nodes[0], 12<<20, peer.SeedOptions{Coded: 8})
	// It is whole before the others come, so that it is asked for much.
	peertest.WaitEqual(t, peertest.GetAll(t, nodes[1:2], link), content)
	p.On.Store(true)
	peertest.WaitEqual(t, peertest.GetAll(t, nodes[2:], link), content)
	id := nodes[1].Host().ID()
	bans := 0
	for i, n := range nodes {
		banned := false
		for line := range strings.Lines(logs[i].String()) {
			switch {
			case i == 1 || !strings.Contains(line, "peer dropped"):
			case strings.Contains(line, id.String()):
				banned = true
			default:
				t.Errorf("an honest peer was dropped: %s", line)
			}
		}
		if banned {
			bans++
		}
		// The last may have been canceled on their way.
		if sent := p.SentTo(n.Host().ID()); sent > 16 && !banned {
			t.Errorf("%d false blocks went to node %d, which did not ban the polluter", sent, i)
		}
	}
	t.Logf("%d false blocks, banned by %d of 5", p.Sent.Load(), bans)
	if bans == 0 {
		t.Error("nobody banned the polluter")
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
