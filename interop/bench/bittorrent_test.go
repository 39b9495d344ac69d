package bench

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/bench/stock"
	"github.com/mobgrid/mob/interop/netns"
)

// eachBitTorrent runs a parallel test with each stock client that is installed, with a
// tracker: nil is opentracker.
func eachBitTorrent(t *testing.T, tracker func() *stock.Tracker, test func(t *testing.T, b BitTorrent)) {
	t.Helper()
	for _, c := range stock.All() {
		t.Run(c.Name(), func(t *testing.T) {
			t.Parallel()
			needsGrid(t)
			b := BitTorrent{Client: c}
			if tracker != nil {
				b.Tracker = tracker()
			}
			if err := b.Missing(); err != nil {
				t.Skip(err)
			}
			test(t, b)
		})
	}
}

// newSite makes a grid of two clusters of two nodes, with 3 MB/s between them, and a
// content for the first node.
func newSite(t *testing.T, size int64) Site {
	t.Helper()
	g := newGrid(t, netns.Config{Clusters: netns.Clusters(2, 2), Links: netns.Uniform(3*netns.MBps, "A", "B")})
	path := filepath.Join(t.TempDir(), "it's all of it.bin")
	if err := writeContent(t.Context(), path, size, 1); err != nil {
		t.Fatal(err)
	}
	return Site{
		Grid: g, Source: g.Node("A", 0), Content: path, Dir: t.TempDir(),
		Receivers: []*netns.Node{g.Node("A", 1), g.Node("B", 0), g.Node("B", 1)},
	}
}

// prepareSwarm is Prepare and, at the end of the test, a Close that must not fail.
func prepareSwarm(ctx context.Context, t *testing.T, b BitTorrent, site Site) *btSwarm {
	t.Helper()
	tr, err := b.Prepare(ctx, site)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := tr.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			for _, p := range tr.(*btSwarm).programs() {
				i := p.(*stock.Instance)
				log, _ := os.ReadFile(i.Log())
				t.Logf("%v: %s", i, log)
			}
		}
	})
	return tr.(*btSwarm)
}

// runSwarm runs a transfer that must succeed. A copy must be intact at the moment when it
// is reported as complete, not only in the end.
func runSwarm(ctx context.Context, t *testing.T, b BitTorrent, site Site) *btSwarm {
	t.Helper()
	tr := prepareSwarm(ctx, t, b, site)
	want, err := os.ReadFile(site.Content)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	calls := map[*netns.Node]int{}
	start := time.Now()
	err = tr.Fetch(ctx, func(n *netns.Node) {
		got, err := os.ReadFile(tr.Copy(n))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: not intact when complete: %d bytes, %v", n.Name(), len(got), err)
		}
		mu.Lock()
		defer mu.Unlock()
		calls[n]++
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.2fs", time.Since(start).Seconds())
	for _, n := range site.Receivers {
		if calls[n] != 1 {
			t.Errorf("%s: complete %d times", n.Name(), calls[n])
		}
	}
	return tr
}

func TestClientsTransfer(t *testing.T) {
	t.Parallel()
	eachBitTorrent(t, nil, func(t *testing.T, b BitTorrent) {
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		used, err := runSwarm(ctx, t, b, newSite(t, 8e6)).Close()
		if err != nil {
			t.Fatal(err)
		}
		if used.CPU <= 0 || used.CPU > 60*time.Second || used.Peak < 1e6 {
			t.Errorf("usage %+v", used)
		}
		t.Logf("%v of CPU, at most %.0f MB", used.CPU, float64(used.Peak)/1e6)
	})
}

func TestClientsSurviveDeathOfOne(t *testing.T) {
	t.Parallel()
	eachBitTorrent(t, nil, func(t *testing.T, b BitTorrent) {
		site := newSite(t, 8e6)
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		tr := prepareSwarm(ctx, t, b, site)
		victim := site.Receivers[1]
		kill := time.AfterFunc(time.Second, func() {
			if err := tr.Kill(victim); err != nil {
				t.Error(err)
			}
		})
		defer kill.Stop()
		var mu sync.Mutex
		done := map[*netns.Node]bool{}
		err := tr.Fetch(ctx, func(n *netns.Node) {
			mu.Lock()
			defer mu.Unlock()
			done[n] = true
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(done) != 2 || done[victim] {
			t.Errorf("%d complete, want the two that live", len(done))
		}
	})
}
