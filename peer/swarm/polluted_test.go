package swarm_test

import (
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// TestPollutingMember lets a member sign corrupt blocks: every node gets the content, and names only that
// member.
func TestPollutingMember(t *testing.T) {
	t.Parallel()
	p := peertest.NewPolluter()
	nodes := peertest.Clusters(t, 2, 3, peertest.At(1, peertest.WithPolluter(p)))
	_, link, content := peertest.SeedRandom(t, nodes[0], 12<<20, peer.SeedOptions{Coded: 16})
	// The polluter completes first, so that it receives many requests.
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
	t.Logf("%d corrupt blocks, named by %d of %d", p.Sent.Load(), named, len(gets))
	if p.Sent.Load() == 0 {
		t.Fatal("the polluter received no request")
	}
	if named == 0 {
		t.Error("no node named the polluter")
	}
}

// TestSybil lets a member sign each of its corrupt blocks with a new key: every node gets the content, and
// the nodes that received some of these blocks ban that member only.
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
	// It completes first, so that it receives many requests.
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
		// The last requests may have been canceled.
		if sent := p.SentTo(n.Host().ID()); sent > 16 && !banned {
			t.Errorf("%d corrupt blocks went to node %d, which did not ban the polluter", sent, i)
		}
	}
	t.Logf("%d corrupt blocks, banned by %d of 5", p.Sent.Load(), bans)
	if bans == 0 {
		t.Error("no node banned the polluter")
	}
}

// TestTamperingRelay lets a member change the blocks that it forwards: they are rejected, and their encoders
// are not named.
func TestTamperingRelay(t *testing.T) {
	t.Parallel()
	p, gate := peertest.NewTamperer(), peertest.NewGate(0)
	p.On.Store(true)
	nodes := peertest.Clusters(t, 2, 2, peertest.At(0, peertest.WithGate(gate)), peertest.At(2, peertest.WithPolluter(p)))
	_, link, content := peertest.SeedRandom(t, nodes[0], 24<<20, peer.SeedOptions{Coded: 64})
	relay := nodes[2]
	gets := peertest.GetAll(t, []*peer.Node{relay, nodes[1], nodes[3]}, link)
	// The relay fetches a share only if its neighbor has not fetched everything before it joins.
	for _, g := range gets {
		peertest.Eventually(t, "a neighbor and a remote peer", func() bool {
			st := g.Status()
			return st.MobSize == 2 && st.Connected >= 2
		})
	}
	gate.Open()
	peertest.WaitEqual(t, gets, content)
	checkNoPolluters(t, gets)
	if p.Sent.Load() == 0 {
		t.Error("the relay received no request for forwarded blocks")
	}
}
