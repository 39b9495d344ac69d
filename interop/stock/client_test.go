package stock

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/netns"
)

// forEach runs a test with every client that is installed.
func forEach(t *testing.T, test func(t *testing.T, c *Client)) {
	t.Helper()
	for _, c := range All() {
		t.Run(c.Name(), func(t *testing.T) {
			t.Parallel() // they wait for links and timers more than they compute
			if err := c.Missing(); err != nil {
				t.Skip(err)
			}
			test(t, c)
		})
	}
}

// newSite makes a grid of two clusters of two nodes, 3 MB/s between them, with
// size bytes at the first.
func newSite(t *testing.T, size int) bench.Site {
	t.Helper()
	if err := netns.Available(); err != nil {
		t.Skip("no grid: ", err)
	}
	g, err := netns.New(netns.Config{Clusters: netns.Clusters(2, 2), Links: netns.Uniform(3*netns.MBps, "A", "B")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(content) // never fails
	path := filepath.Join(t.TempDir(), "it's all of it.bin")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return bench.Site{
		Grid: g, Source: g.Node("A", 0), Content: path, Dir: t.TempDir(),
		Receivers: []*netns.Node{g.Node("A", 1), g.Node("B", 0), g.Node("B", 1)},
	}
}

// prepare is Prepare, and a Close that must work, at the latest with the test.
func prepare(ctx context.Context, t *testing.T, c *Client, site bench.Site) bench.Transfer {
	t.Helper()
	tr, err := c.Prepare(ctx, site)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := tr.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			for _, n := range append(site.Receivers, site.Source) {
				log, _ := os.ReadFile(filepath.Join(site.Dir, seatName(n), "log"))
				t.Logf("%s: %s", seatName(n), log)
			}
		}
	})
	return tr
}

// A copy is whole at the moment when the client says so, not only in the end.
func TestClientsTransfer(t *testing.T) {
	forEach(t, func(t *testing.T, c *Client) {
		site := newSite(t, 8e6)
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		tr := prepare(ctx, t, c, site)
		want, err := os.ReadFile(site.Content)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		told := map[*netns.Node]int{}
		start := time.Now()
		err = tr.Fetch(ctx, func(n *netns.Node) {
			got, err := os.ReadFile(tr.Copy(n))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: not intact when whole: %d bytes, %v", seatName(n), len(got), err)
			}
			mu.Lock()
			defer mu.Unlock()
			told[n]++
		})
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(start)
		for _, n := range site.Receivers {
			if told[n] != 1 {
				t.Errorf("%s: told %d times", seatName(n), told[n])
			}
		}
		usage, err := tr.Close()
		if err != nil {
			t.Fatal(err)
		}
		if usage.CPU <= 0 || usage.CPU > 60*time.Second || usage.Peak < 1e6 {
			t.Errorf("usage %+v", usage)
		}
		t.Logf("%.2fs, %v of CPU, at most %.0f MB", took.Seconds(), usage.CPU, float64(usage.Peak)/1e6)
	})
}

func TestClientsSurviveDeathOfOne(t *testing.T) {
	forEach(t, func(t *testing.T, c *Client) {
		site := newSite(t, 8e6)
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		tr := prepare(ctx, t, c, site)
		victim := site.Receivers[1]
		kill := time.AfterFunc(time.Second, func() {
			if err := tr.Kill(victim); err != nil {
				t.Error(err)
			}
		})
		defer kill.Stop()
		var mu sync.Mutex
		told := map[*netns.Node]bool{}
		err := tr.Fetch(ctx, func(n *netns.Node) {
			mu.Lock()
			defer mu.Unlock()
			told[n] = true
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(told) != 2 || told[victim] {
			t.Errorf("%d whole, want the two that live", len(told))
		}
	})
}
