package peer_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/libp2p/go-libp2p/core/host"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// leaves is a tracker without members that counts the nodes that leave.
type leaves struct {
	peer.Finder
	n atomic.Int64
}

// Announce implements [peer.Finder].
func (l *leaves) Announce(_ context.Context, a *proto.Announce) (*proto.AnnounceReply, error) {
	if a.Leaving {
		l.n.Add(1)
	}
	return &proto.AnnounceReply{Interval: 30}, nil
}

// Close implements [peer.Finder].
func (l *leaves) Close() error { return nil }

// TestDescribeBesideGet checks that a node leaves the swarm at the end of a Describe, unless it fetches the content.
func TestDescribeBesideGet(t *testing.T) {
	t.Parallel()
	tracker := new(leaves)
	n := peertest.Start(t, "A", peertest.Configure(func(cfg *peer.Config) {
		cfg.Finder = func(host.Host, []ma.Multiaddr) peer.Finder { return tracker }
		cfg.Trackers = []ma.Multiaddr{ma.StringCast(peertest.TrackerAddr)}
	}))
	_, link, _ := peertest.SeedRandom(t, peertest.Start(t, "B"), 1<<10, peer.SeedOptions{})
	link.Peers = nil
	for _, beside := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		looking := make(chan struct{})
		ended, first := make(chan error), sync.OnceFunc(func() { close(looking) })
		go func() {
			_, err := n.Describe(ctx, link, func(string) { first() })
			ended <- err
		}()
		<-looking
		if beside {
			peertest.Get(t, n, link, filepath.Join(t.TempDir(), "out"))
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if left := tracker.n.Swap(0); (left > 0) == beside {
			t.Errorf("with a get %v: left %d times", beside, left)
		}
	}
}
