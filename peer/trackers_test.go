package peer_test

import (
	"context"
	"sync"
	"testing"

	"github.com/libp2p/go-libp2p/core/host"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// announces counts announces by tracker.
type announces struct {
	mu     sync.Mutex
	to     map[string]int
	closed int // clients
}

func (a *announces) count(tracker ma.Multiaddr) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.to[tracker.String()]
}

// announcer is a client of trackers that know nobody.
type announcer struct {
	*announces
	trackers []ma.Multiaddr
}

// Announce implements [peer.Finder].
func (c *announcer) Announce(context.Context, *proto.Announce) (*proto.Handout, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.trackers {
		c.to[t.String()]++
	}
	return &proto.Handout{Interval: 1}, nil
}

// Close implements [peer.Finder].
func (c *announcer) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed++
	return nil
}

// TestSetTrackers has a running transfer announce itself to the trackers that its node has now.
func TestSetTrackers(t *testing.T) {
	t.Parallel()
	own := ma.StringCast(peertest.TrackerAddr)
	linked, _ := ma.SplitFunc(own, func(c ma.Component) bool { return c.Protocol().Code == ma.P_P2P })
	next := linked.Encapsulate(ma.StringCast("/p2p/12D3KooWQYhTNQdmr3ArTeUHRYzFg94BKyTkoWBDWez9kSCVe2Xo"))
	a := &announces{to: map[string]int{}}
	n := peertest.Start(t, "A", peertest.Configure(func(c *peer.Config) {
		c.Finder = func(_ host.Host, trackers []ma.Multiaddr) peer.Finder { return &announcer{a, trackers} }
		c.Trackers = []ma.Multiaddr{own}
	}))
	peertest.SeedRandom(t, n, 1<<20, peer.SeedOptions{})
	peertest.Eventually(t, "an announce", func() bool { return a.count(own) > 0 })
	if a.count(next) > 0 {
		t.Fatal("announced to a tracker that the node does not have")
	}
	n.SetTrackers([]ma.Multiaddr{next})
	peertest.Eventually(t, "an announce to the new tracker", func() bool { return a.count(next) > 0 })
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed != 1 {
		t.Errorf("%d clients were closed, want that of the old tracker", a.closed)
	}
}
