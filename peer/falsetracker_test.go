package peer_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/host"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// falseTracker sends a node its own address, members that do not exist, and existing ones with wrong
// addresses and clusters.
type falseTracker struct {
	peer.Finder
	self           proto.PeerID
	real, invented []proto.PeerID
}

// Announce implements [peer.Finder].
func (l *falseTracker) Announce(context.Context, *proto.Announce) (*proto.AnnounceReply, error) {
	h := &proto.AnnounceReply{Interval: 1}
	dead := ma.StringCast("/ip4/127.0.0.1/tcp/9").Bytes()
	add := func(id proto.PeerID, cluster string, addrs ...[]byte) {
		h.Members = append(h.Members, proto.Member{ID: id, Cluster: cluster, Addrs: addrs})
	}
	add(l.self, "elsewhere", dead)
	for _, id := range l.real {
		add(id, "elsewhere", dead)
	}
	for i, id := range l.invented {
		add(id, []string{"A", "B", fmt.Sprint(i)}[i%3], dead, []byte("not an address"))
	}
	return h, nil
}

// Close implements [peer.Finder].
func (l *falseTracker) Close() error { return nil }

// TestWrongTrackerReplies fetches with true addresses from the link alone. The replies of the
// tracker neither prevent it nor cause duplicates.
func TestWrongTrackerReplies(t *testing.T) {
	t.Parallel()
	lies := &falseTracker{}
	for range 100 {
		_, id := newIdentity(t)
		lies.invented = append(lies.invented, proto.PeerID(id))
	}
	lie := peertest.Configure(func(cfg *peer.Config) {
		cfg.Finder = func(h host.Host, _ []ma.Multiaddr) peer.Finder {
			return &falseTracker{self: proto.PeerID(h.ID()), real: lies.real, invented: lies.invented}
		}
		cfg.Trackers = []ma.Multiaddr{ma.StringCast(peertest.TrackerAddr)}
	})
	gate := peertest.NewGate(0)
	source := peertest.Start(t, "A", lie, peertest.WithGate(gate))
	members := []*peer.Node{peertest.Start(t, "B", lie), peertest.Start(t, "B", lie)}
	for _, n := range append(members, source) {
		lies.real = append(lies.real, proto.PeerID(n.Host().ID()))
	}
	_, link, content := peertest.SeedRandom(t, source, 8<<20, peer.SeedOptions{})
	for _, n := range members {
		link.Peers = append(link.Peers, n.Addrs()...)
	}
	gets := peertest.GetAll(t, members, link)
	for _, get := range gets {
		// What each fetches before it has found the other, both fetch.
		peertest.Eventually(t, "both other nodes", func() bool { return get.Status().Connected == 2 })
	}
	gate.Open()
	peertest.WaitEqual(t, gets, content)
	var wan int64
	for _, get := range gets {
		wan += get.Status().Traffic.WANIn
	}
	if copies := float64(wan) / float64(len(content)); copies > 1.25 {
		t.Errorf("%.2f copies entered the cluster", copies)
	}
}
