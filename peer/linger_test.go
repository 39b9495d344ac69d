package peer_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"github.com/mobgrid/mob/proto"
)

// TestWaitAll: a complete node is the only source of another one. WaitAll returns once that is complete.
func TestWaitAll(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		start func(t testing.TB, cluster string, opts ...peertest.Option) *peer.Node
	}{
		{"sessions alone", peertest.Start},
		{"with a tracker", peertest.NewTracker().Start},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const size = 4 << 20
			seeds := peertest.NewGate(0)
			seeds.Open()
			a := c.start(t, "A", peertest.WithGate(seeds))
			_, link, content := peertest.SeedRandom(t, a, size, peer.SeedOptions{})
			gate := peertest.NewGate(0)
			b := c.start(t, "B/rack1", peertest.WithGate(gate))
			first := peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out"))
			peertest.Wait(t, first)
			seeds.Close()
			link.Peers = append(link.Peers, b.Addrs()...)
			second := peertest.Get(t, c.start(t, "B/rack2"), link, filepath.Join(t.TempDir(), "out"))
			peertest.Eventually(t, "the incomplete node", func() bool {
				return first.Incomplete(t.Context(), peer.Site) == 1 && second.Status().Connected == 2
			})
			if err := first.WaitAll(t.Context(), peer.Cluster); err != nil {
				t.Errorf("no other node in the cluster: %v", err)
			}
			gate.Open()
			if err := first.WaitAll(t.Context(), peer.Site); err != nil {
				t.Error(err)
			}
			if st := second.Status(); st.PiecesHave != st.Pieces {
				t.Errorf("the other node has %d of %d pieces", st.PiecesHave, st.Pieces)
			}
			peertest.WaitEqual(t, []*peer.Transfer{first, second}, content)
		})
	}
}

// TestIncompleteAfterExchange: two nodes fetch pieces from each other. Neither takes the other for incomplete.
func TestIncompleteAfterExchange(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	_, link, content := peertest.SeedRandom(t, tracker.Start(t, "A"), 8<<20, peer.SeedOptions{})
	gets := peertest.GetAll(t, []*peer.Node{tracker.Start(t, "B"), tracker.Start(t, "B")}, link)
	peertest.WaitEqual(t, gets, content)
	for _, get := range gets {
		peertest.Eventually(t, "no incomplete node", func() bool { return get.Incomplete(t.Context(), peer.Swarm) == 0 })
	}
}

// TestWaitAllOfUnreachable: a tracker knows incomplete nodes, and no session with them exists.
func TestWaitAllOfUnreachable(t *testing.T) {
	t.Parallel()
	tracker := peertest.NewTracker()
	_, link, _ := peertest.SeedRandom(t, tracker.Start(t, "A"), 1<<20, peer.SeedOptions{})
	tracker.Add(link, unreachable(t, "B/rack2"))
	tracker.Add(link, unreachable(t, "C"))
	get := peertest.Get(t, tracker.Start(t, "B/rack1"), link, filepath.Join(t.TempDir(), "out"))
	peertest.Wait(t, get)
	for scope, want := range []int{peer.Cluster: 0, peer.Site: 1, peer.Swarm: 2} {
		peertest.Eventually(t, fmt.Sprintf("%d incomplete nodes in scope %d", want, scope), func() bool {
			return get.Incomplete(t.Context(), peer.Scope(scope)) == want
		})
	}
	if err := get.WaitAll(t.Context(), peer.Cluster); err != nil {
		t.Error(err)
	}
	for _, timeout := range []time.Duration{0, 300 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		if err := get.WaitAll(ctx, peer.Site); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("WaitAll returned %v after %v, while a node was incomplete", err, timeout)
		}
		cancel()
	}
	waited := make(chan error, 1)
	go func() { waited <- get.WaitAll(t.Context(), peer.Swarm) }()
	if err := get.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; !errors.Is(err, peer.ErrStopped) {
		t.Errorf("WaitAll of a stopped transfer returned %v", err)
	}
}

// deadTracker fails every announce. A node that has not announced itself sends no scrape.
type deadTracker struct{ peer.Finder }

// Announce implements [peer.Finder].
func (deadTracker) Announce(context.Context, *proto.Announce) (*proto.AnnounceReply, error) {
	return nil, errors.New("no answer")
}

// Close implements [peer.Finder].
func (deadTracker) Close() error { return nil }

// TestWaitAllTrackerDown checks that a node whose tracker does not answer leaves when no session is incomplete.
func TestWaitAllTrackerDown(t *testing.T) {
	t.Parallel()
	dead := peertest.Configure(func(cfg *peer.Config) {
		cfg.Finder = func(host.Host, []ma.Multiaddr) peer.Finder { return deadTracker{} }
		cfg.Trackers = []ma.Multiaddr{ma.StringCast(peertest.TrackerAddr)}
	})
	_, link, _ := peertest.SeedRandom(t, peertest.Start(t, "A", dead), 1<<20, peer.SeedOptions{})
	get := peertest.Get(t, peertest.Start(t, "A", dead), link, filepath.Join(t.TempDir(), "out"))
	if err := get.WaitAll(t.Context(), peer.Swarm); err != nil {
		t.Error(err)
	}
}

// scriptedTracker has no members, and its n-th scrape finds nodes in cluster B as given.
type scriptedTracker struct {
	peer.Finder
	scrapes chan proto.ScrapeCluster
	last    *atomic.Pointer[proto.ScrapeCluster]
}

// Announce implements [peer.Finder].
func (scriptedTracker) Announce(context.Context, *proto.Announce) (*proto.AnnounceReply, error) {
	return &proto.AnnounceReply{Interval: 60}, nil
}

// Scrape returns the next reply, or the last one again.
func (s scriptedTracker) Scrape(context.Context, []byte) (*proto.Scrape, error) {
	select {
	case c := <-s.scrapes:
		s.last.Store(&c)
	default:
	}
	return &proto.Scrape{Clusters: []proto.ScrapeCluster{*s.last.Load()}}, nil
}

// Close implements [peer.Finder].
func (scriptedTracker) Close() error { return nil }

// TestWaitAllScrapesBeforeLeaving: a complete node connects after the last scrape, and an incomplete one has announced
// itself since. The complete one does not count as the node that the scrape found to be incomplete.
func TestWaitAllScrapesBeforeLeaving(t *testing.T) {
	t.Parallel()
	tracker := scriptedTracker{scrapes: make(chan proto.ScrapeCluster, 3), last: new(atomic.Pointer[proto.ScrapeCluster])}
	for _, c := range []proto.ScrapeCluster{{Nodes: 2, Whole: 1}, {Nodes: 3, Whole: 2}, {Nodes: 3, Whole: 3}} {
		c.Name = "B"
		tracker.scrapes <- c
	}
	_, link, _ := peertest.SeedRandom(t, peertest.Start(t, "A"), 1<<20, peer.SeedOptions{})
	b := peertest.Start(t, "B", peertest.Configure(func(cfg *peer.Config) {
		cfg.Finder = func(host.Host, []ma.Multiaddr) peer.Finder { return tracker }
		cfg.Trackers = []ma.Multiaddr{ma.StringCast(peertest.TrackerAddr)}
	}))
	get := peertest.Get(t, b, link, filepath.Join(t.TempDir(), "out"))
	left := make(chan error, 1)
	go func() { left <- get.WaitAll(t.Context(), peer.Site) }()
	peertest.Eventually(t, "the first scrape", func() bool { return tracker.last.Load() != nil })
	link.Peers = append(link.Peers, b.Addrs()...)
	peertest.Wait(t, peertest.Get(t, peertest.Start(t, "B"), link, filepath.Join(t.TempDir(), "out")))
	if err := <-left; err != nil {
		t.Fatal(err)
	}
	if c := tracker.last.Load(); c.Whole != 3 {
		t.Errorf("the node left while %d of %d nodes were complete", c.Whole, c.Nodes)
	}
}
