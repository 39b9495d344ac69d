package stock

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/netns"
)

// bin is the folder of the built program mob, for all tests; set once, before any.
var bin string

func TestMain(m *testing.M) { os.Exit(main(m)) }

func main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mob-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin = dir
	build := exec.Command("go", "build", "-o", dir+"/", "../../cli/mob")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "the program does not build:", err)
		return 1
	}
	return m.Run()
}

// forEach runs a test with each of the clients that is installed.
func forEach(t *testing.T, clients []*Client, test func(t *testing.T, c *Client)) {
	t.Helper()
	for _, c := range clients {
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

// transfer runs a transfer that must work. A copy is whole at the moment when the
// client says so, not only in the end.
func transfer(ctx context.Context, t *testing.T, c *Client, site bench.Site) bench.Transfer {
	t.Helper()
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
	t.Logf("%.2fs", time.Since(start).Seconds())
	for _, n := range site.Receivers {
		if told[n] != 1 {
			t.Errorf("%s: told %d times", seatName(n), told[n])
		}
	}
	return tr
}

func TestClientsTransfer(t *testing.T) {
	forEach(t, All(), func(t *testing.T, c *Client) {
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		usage, err := transfer(ctx, t, c, newSite(t, 8e6)).Close()
		if err != nil {
			t.Fatal(err)
		}
		if usage.CPU <= 0 || usage.CPU > 60*time.Second || usage.Peak < 1e6 {
			t.Errorf("usage %+v", usage)
		}
		t.Logf("%v of CPU, at most %.0f MB", usage.CPU, float64(usage.Peak)/1e6)
	})
}

// Stock clients need no other tracker than mob's, which knows in the end that all
// of them are whole. But rTorrent does not say that it has become so, to opentracker
// neither.
func TestClientsTransferByMobTracker(t *testing.T) {
	for _, scheme := range []string{"http", "udp"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			var clients []*Client
			for _, c := range All() {
				clients = append(clients, c.With(MobTracker(bin, scheme)))
			}
			forEach(t, clients, func(t *testing.T, c *Client) {
				ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
				defer cancel()
				site := newSite(t, 3e6)
				tr := transfer(ctx, t, c, site).(*swarm)
				members := 1 + len(site.Receivers)
				for {
					got, err := tr.tracker.scrape()
					if got == (scraped{whole: members, downloads: members - 1}) {
						return
					}
					if c.Name() == "rtorrent" && got == (scraped{whole: 1, partial: members - 1}) {
						return
					}
					select {
					case <-time.After(50 * time.Millisecond):
					case <-ctx.Done():
						t.Fatalf("the tracker counts %+v, %v; %d are whole", got, err, members)
					}
				}
			})
		})
	}
}

func TestClientsSurviveDeathOfOne(t *testing.T) {
	forEach(t, All(), func(t *testing.T, c *Client) {
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
