package swarm_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	libhost "github.com/libp2p/go-libp2p/core/host"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// TestGossip runs each kind of permutation gossip: the source sends the content little more than once, and
// the members send it to each other.
func TestGossip(t *testing.T) {
	t.Parallel()
	for _, name := range proto.StrategyNames() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := proto.ParseStrategy(name)
			if err != nil {
				t.Fatal(err)
			}
			gate := peertest.NewGate(0)
			nodes := peertest.Clusters(t, 1, 6, peertest.At(0, peertest.WithGate(gate)))
			seed, link, content := peertest.SeedRandom(t, nodes[0], 10<<20+70001, peer.SeedOptions{Coded: 32, Strategy: s})
			if link.Coded != 32 || link.Strategy != s {
				t.Errorf("link %s", link)
			}
			gets := peertest.GetAll(t, nodes[1:], link)
			waitJoined(t, gets, 5, 0) // only the source sends to members that do not know each other
			gate.Open()
			peertest.WaitEqual(t, gets, content)
			if st := gets[0].Status(); st.Strategy != name || st.Coded != 32 || st.PiecesHave != st.Pieces {
				t.Errorf("status %+v", st)
			}
			if out := seed.Status().Traffic.LANOut; out > 4*int64(len(content)) {
				t.Errorf("the source sent %d bytes for %d to five", out, len(content))
			}
		})
	}
}

// TestGossipSmallContents moves content shorter than a generation, block or piece.
func TestGossipSmallContents(t *testing.T) {
	t.Parallel()
	nodes := peertest.Clusters(t, 1, 3)
	for i, size := range []int{0, 1, 64 << 10, 256<<10 + 1, 5<<20 + 70001} {
		_, link, content := peertest.SeedRandom(t, nodes[0], size+i, peer.SeedOptions{Coded: 16, Strategy: proto.Overlap2})
		peertest.WaitEqual(t, peertest.GetAll(t, nodes[1:], link), content)
	}
}

// TestGossipWithoutTracker checks that members find each other through the source.
func TestGossipWithoutTracker(t *testing.T) {
	t.Parallel()
	var nodes []*peer.Node
	for range 4 {
		nodes = append(nodes, peertest.Start(t, "A"))
	}
	_, link, content := peertest.SeedRandom(t, nodes[0], 4<<20, peer.SeedOptions{Coded: 16, Strategy: proto.Sequential})
	gets := peertest.GetAll(t, nodes[1:], link)
	peertest.WaitEqual(t, gets, content)
	for _, g := range gets {
		peertest.Eventually(t, "everybody", func() bool { return g.Status().Connected == 3 })
	}
}

// TestGossipDeathAndLateMember stops a member halfway, lets another one join late, and restarts the first
// with its pieces: all complete.
func TestGossipDeathAndLateMember(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	data := t.TempDir()
	gate := peertest.NewGate(12 << 20)
	nodes := []*peer.Node{tracker.Start(t, "A", peertest.WithGate(gate)), tracker.Start(t, "A"), tracker.Start(t, "A")}
	mortal := tracker.Start(t, "A", peertest.Data(data))
	_, link, content := peertest.SeedRandom(t, nodes[0], 24<<20, peer.SeedOptions{Coded: 32, Strategy: proto.Overlap2})
	out := filepath.Join(t.TempDir(), "out")
	lost := peertest.Get(t, mortal, link, out)
	peertest.Eventually(t, "some pieces", func() bool { return lost.Status().PiecesHave > 40 })
	gets := peertest.GetAll(t, nodes[1:], link)
	peertest.Eventually(t, "the others", func() bool { return lost.Status().Connected == 3 })
	if err := mortal.Close(); err != nil {
		t.Fatal(err)
	}
	gate.Open()
	had := lost.Status().PiecesHave
	late := peertest.GetAll(t, []*peer.Node{tracker.Start(t, "A")}, link)
	peertest.WaitEqual(t, gets, content)
	peertest.WaitEqual(t, late, content)
	mortal = tracker.Start(t, "A", peertest.Data(data))
	again, err := mortal.Transfer(link.Manifest.String())
	if err != nil {
		t.Fatal(err)
	}
	peertest.WaitEqual(t, []*peer.Transfer{again}, content)
	st := again.Status()
	if lacked := int64(st.Pieces-had) * int64(st.PieceLength); st.Traffic.LANIn-st.Duplicate > lacked*11/10 {
		t.Errorf("%d new bytes were received after the restart, and %d were missing", st.Traffic.LANIn-st.Duplicate, lacked)
	}
}

// TestGossipPolluted lets a complete member send corrupt blocks for some seconds. Members combine them with
// valid ones, and detect them by the hashes of a decoded generation: no corrupt piece is stored, and all
// members complete.
func TestGossipPolluted(t *testing.T) {
	t.Parallel()
	p, gate := peertest.NewPolluter(), peertest.NewGate(0)
	p.On.Store(true)
	nodes := peertest.Clusters(t, 1, 4, peertest.At(0, peertest.WithGate(gate)), peertest.At(1, peertest.WithPolluter(p)))
	link, content := seedTwice(t, nodes, 12<<20, peer.SeedOptions{Coded: 16, Strategy: proto.Overlap1})
	gets := peertest.GetAll(t, nodes[2:], link)
	peertest.Eventually(t, "a corrupt block", func() bool { return p.Sent.Load() > 0 }) // before the members complete
	gate.Open()
	lacks := func(g *peer.Transfer) bool { return g.Status().Phase != peer.Whole }
	peertest.Eventually(t, "corrupt blocks", func() bool { return p.Sent.Load() > 40 || !slices.ContainsFunc(gets, lacks) })
	p.On.Store(false)
	peertest.WaitEqual(t, gets, content)
}

// TestGossipMalformed checks that malformed blocks end the session of their sender.
func TestGossipMalformed(t *testing.T) {
	t.Parallel()
	nodes := peertest.Clusters(t, 1, 2)
	_, link, content := peertest.SeedRandom(t, nodes[0], 4<<20, peer.SeedOptions{Coded: 16, Strategy: proto.Sequential})
	coding := proto.Coding{K: link.Coded, Strategy: link.Strategy}
	long := make([]byte, 16+proto.MinCodedBlock)
	get := peertest.Get(t, nodes[1], link, filepath.Join(t.TempDir(), "out"))
	peertest.WaitEqual(t, []*peer.Transfer{get}, content)
	for _, b := range []struct {
		generation uint32
		data       []byte
	}{
		{generation: 1000, data: long}, // there are 4
		{data: long[1:]},
		{data: long}, // zero coefficients
	} {
		h := peertest.Stranger(t)
		s := controlAs(t, h, nodes[1], &proto.Hello{Swarm: link.Manifest.Bytes(), Cluster: "A", Features: coding.Features()})
		peertest.Eventually(t, "a session", func() bool { return get.Status().Connected == 2 })
		push(t, h, nodes[1], link, b.generation, b.data)
		waitEnd(t, s)
		peertest.Eventually(t, "its end", func() bool { return get.Status().Connected == 1 })
	}
}

// TestGossipExcludes has nodes join that cannot take part, because of their cluster or their link:
// their transfers fail with the reason.
func TestGossipExcludes(t *testing.T) {
	t.Parallel()
	a, near, far := peertest.Start(t, "A"), peertest.Start(t, "A"), peertest.Start(t, "B")
	_, link, _ := peertest.SeedRandom(t, a, 1<<20, peer.SeedOptions{Coded: 4, Strategy: proto.Overlap1})
	for name, tt := range map[string]struct {
		n    *peer.Node
		link proto.Link
		want string
	}{
		"another cluster": {far, *link, "stays within cluster A"},
		"mobs":            {near, proto.Link{Manifest: link.Manifest, Peers: link.Peers, Coded: 4}, "x.gossip=overlap1"},
		"plain":           {near, proto.Link{Manifest: link.Manifest, Peers: link.Peers}, "x.gossip=overlap1"},
		"another kind":    {near, proto.Link{Manifest: link.Manifest, Peers: link.Peers, Coded: 4, Strategy: proto.Sequential}, "x.gossip=overlap1"},
		"other blocks":    {near, proto.Link{Manifest: link.Manifest, Peers: link.Peers, Coded: 8, Strategy: proto.Overlap1}, "x.rlnc=4"},
	} {
		t.Run(name, func(t *testing.T) {
			get := peertest.Get(t, tt.n, &tt.link, filepath.Join(t.TempDir(), "out"))
			ctx, cancel := context.WithTimeout(context.Background(), peertest.WaitTimeout)
			defer cancel()
			if err := get.Wait(ctx); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q in it", err, tt.want)
			}
			if _, err := tt.n.Remove(get, true); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestUnexpectedPush pushes a block into a swarm in which blocks are requested: that ends the
// session.
func TestUnexpectedPush(t *testing.T) {
	t.Parallel()
	n := peertest.Start(t, "A")
	_, link, _ := peertest.SeedRandom(t, n, 1<<20, peer.SeedOptions{})
	h := peertest.Stranger(t)
	s := control(t, h, n, link)
	defer s.Reset()
	waitSession(t, h, n, link) // the node resets the channels of peers that have not joined
	push(t, h, n, link, 0, make([]byte, 1000))
	waitEnd(t, s)
}

// push sends a block on a separate channel.
func push(t *testing.T, h libhost.Host, n *peer.Node, link *proto.Link, generation uint32, data []byte) {
	t.Helper()
	bulk, err := h.NewStream(context.Background(), n.Host().ID(), proto.BulkProtocol)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.WriteMessage(bulk, &proto.BulkHello{Swarm: link.Manifest.Bytes()}); err != nil {
		t.Fatal(err)
	}
	// It fails if the node ends the session after the header.
	_, _ = bulk.Write(append(proto.AppendGossipHeader(nil, generation, 0, len(data)), data...))
}
