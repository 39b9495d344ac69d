package peer_test

import (
	"path/filepath"
	"strings"
	"testing"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// TestIsolation fetches a file while the dials of all members of the site fail, until one
// joins. A node of another cluster is not isolated by that.
func TestIsolation(t *testing.T) {
	t.Parallel()
	tracker, gate := peertest.NewTracker(), peertest.NewGate(1<<20)
	a := tracker.Start(t, "A", peertest.WithGate(gate))
	_, link, content := peertest.SeedRandom(t, a, 4<<20, peer.SeedOptions{})
	for range 2 {
		tracker.Add(link, unreachable(t, "B/rack1"))
	}
	var logB, logC peertest.Recorder
	b := tracker.Start(t, "B/rack2", peertest.Log(logB.Logger()))
	c := tracker.Start(t, "C", peertest.Log(logC.Logger()))
	get := peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out"))
	other := peertest.Get(t, c, link, filepath.Join(t.TempDir(), "out"))
	peertest.Eventually(t, "the isolation", func() bool { return get.Status().Isolation != nil })
	if i := get.Status().Isolation; i.Cluster != "B" || i.Known != 2 || !strings.Contains(i.Err, "connection refused") {
		t.Errorf("isolation %+v", i)
	}
	if n := b.Stats().Isolated; n != 1 {
		t.Errorf("%d transfers are isolated, want 1", n)
	}
	const warning = "no member of the own cluster can be reached"
	if i := other.Status().Isolation; i != nil || logC.Count(warning) > 0 {
		t.Errorf("the node of another cluster: %+v, %s", i, &logC)
	}
	mate := peertest.Get(t, tracker.Start(t, "B/rack3"), link, filepath.Join(t.TempDir(), "out"))
	peertest.Eventually(t, "the end of the isolation", func() bool { return get.Status().Isolation == nil })
	gate.Open()
	peertest.WaitEqual(t, []*peer.Transfer{get, other, mate}, content)
	if n := logB.Count(warning); n != 1 {
		t.Errorf("%d warnings, want 1: %s", n, &logB)
	}
}

// unreachable returns a member of a cluster whose address takes no connections.
func unreachable(t *testing.T, cluster string) proto.Member {
	t.Helper()
	_, id := newIdentity(t)
	return proto.Member{ID: proto.PeerID(id), Cluster: cluster, Addrs: [][]byte{ma.StringCast("/ip4/127.0.0.1/tcp/1").Bytes()}}
}
