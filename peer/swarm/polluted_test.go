package swarm_test

import (
	"strings"
	"testing"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// seedTwice seeds random bytes at the first two nodes.
func seedTwice(t *testing.T, nodes []*peer.Node, size int, opt peer.SeedOptions) (link *proto.Link, content []byte) {
	t.Helper()
	path, content := peertest.RandomFile(t, size)
	_, link = peertest.Seed(t, nodes[0], path, opt)
	peertest.Seed(t, nodes[1], path, opt)
	return link, content
}

// TestPollutingMember lets a member sign corrupt blocks: every node gets the content, and names only that
// member.
func TestPollutingMember(t *testing.T) {
	t.Parallel()
	p, gate := peertest.NewPolluter(), peertest.NewGate(0)
	p.On.Store(true)
	nodes := peertest.Clusters(t, 2, 3, peertest.At(0, peertest.WithGate(gate)), peertest.At(1, peertest.WithPolluter(p)))
	link, content := seedTwice(t, nodes, 12<<20, peer.SeedOptions{Coded: 16})
	polluter := nodes[1].Host().ID().String()
	gets := peertest.GetAll(t, nodes[2:], link)
	// The first block at the polluter's neighbor is corrupt, and of use, since nothing else arrives before it.
	peertest.Eventually(t, "a corrupt block", func() bool { return gets[0].Status().Traffic.LANIn > 0 })
	gate.Open()
	peertest.WaitEqual(t, gets, content)
	named := 0
	for _, g := range gets {
		for _, name := range g.Status().Polluters {
			named++
			if name != polluter {
				t.Errorf("%s is named, and is honest", name)
			}
		}
	}
	t.Logf("%d corrupt blocks, named by %d of %d", p.Sent.Load(), named, len(gets))
	if len(gets[0].Status().Polluters) == 0 {
		t.Error("the polluter's neighbor does not name it")
	}
}

// TestSybil lets a member sign each of its corrupt blocks with a new key: every node gets the content, and
// the member's neighbor bans it, and no node another one.
func TestSybil(t *testing.T) {
	t.Parallel()
	p, gate := peertest.NewSybil(), peertest.NewGate(0)
	p.On.Store(true)
	logs := make([]peertest.Recorder, 6)
	opts := []peertest.Option{peertest.At(0, peertest.WithGate(gate)), peertest.At(1, peertest.WithPolluter(p))}
	for i := range logs {
		opts = append(opts, peertest.At(i, peertest.Log(logs[i].Logger())))
	}
	nodes := peertest.Clusters(t, 2, 3, opts...)
	link, content := seedTwice(t, nodes, 12<<20, peer.SeedOptions{Coded: 8})
	gets := peertest.GetAll(t, nodes[2:], link)
	sybil := nodes[1].Host().ID().String()
	// drops returns the number of peers that a node has dropped.
	drops := func(i int) (sybils, honest int) {
		for line := range strings.Lines(logs[i].String()) {
			switch {
			case !strings.Contains(line, "peer dropped"):
			case strings.Contains(line, sybil):
				sybils++
			default:
				honest++
			}
		}
		return sybils, honest
	}
	peertest.Eventually(t, "a ban", func() bool { n, _ := drops(2); return n > 0 }) // before the node completes
	gate.Open()
	peertest.WaitEqual(t, gets, content)
	bans := 0
	for i := range nodes {
		sybils, honest := drops(i)
		bans += min(sybils, 1)
		if i != 1 && honest > 0 {
			t.Errorf("an honest peer was dropped: %s", &logs[i])
		}
	}
	t.Logf("%d corrupt blocks, banned by %d of 5", p.Sent.Load(), bans)
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
	waitJoined(t, gets, 1, 1)
	gate.Open()
	peertest.WaitEqual(t, gets, content)
	checkNoPolluters(t, gets)
	if p.Sent.Load() == 0 {
		t.Error("the relay received no request for forwarded blocks")
	}
}
