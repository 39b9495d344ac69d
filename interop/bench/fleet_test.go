package bench

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/cli/control"
	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/peer"
)

// newFleet makes a grid of clusters A, B and so on with these numbers of nodes, for the
// length of a test.
func newFleet(t testing.TB, links netns.Links, nodes ...int) (*Fleet, []string) {
	t.Helper()
	needsGrid(t)
	clusters := netns.Clusters(nodes...)
	var names []string
	for _, c := range clusters {
		names = append(names, c.Name)
	}
	grid := newGrid(t, netns.Config{Clusters: clusters, Links: links.Among(names...)})
	return &Fleet{Grid: grid, Bin: bin(t), Dir: t.TempDir()}, names
}

// newGrid makes a grid for the length of a test.
func newGrid(t testing.TB, c netns.Config) *netns.Grid {
	t.Helper()
	grid, err := netns.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := grid.Close(); err != nil {
			t.Error(err)
		}
	})
	return grid
}

// randomContent makes a file of n random bytes.
func randomContent(t testing.TB, n int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "content.bin")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(f, rand.Reader, n); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// startTracker runs the tracker for the length of a test.
func (f *Fleet) startTracker(t testing.TB, node *netns.Node) {
	t.Helper()
	if err := f.StartTracker(node); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.KillTracker(); err != nil {
			t.Error(err)
		}
	})
}

// Stop ends the daemon with SIGTERM and waits. It fails if the exit status is not 0.
func (d *Daemon) Stop() error { return errors.Join(d.proc.Signal(syscall.SIGTERM), d.proc.Wait()) }

// startDaemon runs a daemon for the length of a test.
func (f *Fleet) startDaemon(t testing.TB, node *netns.Node) *Daemon {
	t.Helper()
	d, err := f.StartDaemon(node)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(d.Log())
			t.Logf("%s: %s", d.Name(), log[max(0, len(log)-1500):])
		}
		if err := d.Kill(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// startAll runs a tracker and a daemon on the first node of some clusters, and daemons on all other nodes, for the
// length of a test.
func (f *Fleet) startAll(t testing.TB, clusters ...string) (source *Daemon, sinks []*Daemon) {
	t.Helper()
	var nodes []*netns.Node
	for _, name := range clusters {
		nodes = append(nodes, f.Grid.Nodes(name)...)
	}
	f.startTracker(t, nodes[0])
	source = f.startDaemon(t, nodes[0])
	for _, n := range nodes[1:] {
		sinks = append(sinks, f.startDaemon(t, n))
	}
	return source, sinks
}

// mustSeed is Seed of random content of a size, which must not fail.
func (d *Daemon) mustSeed(t testing.TB, size int64, flags ...string) (link string) {
	t.Helper()
	link, err := d.Seed(t.Context(), randomContent(t, size), flags...)
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// concurrently calls f for all daemons at the same time. An error fails the test.
func concurrently(t testing.TB, daemons []*Daemon, f func(d *Daemon) error) {
	t.Helper()
	var calls sync.WaitGroup
	for _, d := range daemons {
		calls.Go(func() {
			if err := f(d); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
}

// fullyBusy is the share of its time that a machine is busy when processes wait for a processor. Rates and times are not
// compared then, except with limits that must never be exceeded.
const fullyBusy = 0.85

// busyShare returns a function that returns the share of the time since then that the machine was busy.
func busyShare(t testing.TB) func() float64 {
	t.Helper()
	read := func() (busy, all float64) {
		busy, all, err := machineTime()
		if err != nil {
			t.Error(err)
		}
		return busy, all
	}
	busy, all := read()
	return func() float64 {
		busyNow, allNow := read()
		return (busyNow - busy) / (allNow - all)
	}
}

// startAlone runs a daemon in its own cluster, until the grid is closed.
func (f *Fleet) startAlone(t testing.TB, node *netns.Node, name string) *Daemon {
	t.Helper()
	d, err := f.StartNamed(node, name, name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// received returns the traffic that each cluster has received over the WAN so far.
func (f *Fleet) received(t testing.TB, clusters ...string) []netns.Count {
	t.Helper()
	links, err := f.Grid.LinkBytes()
	if err != nil {
		t.Fatal(err)
	}
	all := make([]netns.Count, len(clusters))
	for _, l := range links {
		if i := slices.Index(clusters, l.To); i >= 0 {
			all[i] = all[i].Add(l.Count)
		}
	}
	return all
}

// transfers returns the status of the daemon's transfers, oldest first.
func (d *Daemon) transfers(t testing.TB) []peer.Status {
	t.Helper()
	ctx := context.Background() // also after the test
	c, err := control.Dial(ctx, d.dir)
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.Transfers(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// status returns the status of the daemon's one transfer; the zero value before it starts.
func (d *Daemon) status(t testing.TB) peer.Status {
	t.Helper()
	list := d.transfers(t)
	switch len(list) {
	case 0:
		return peer.Status{}
	case 1:
		return list[0]
	}
	t.Fatalf("%s has %d transfers", d.Name(), len(list))
	return peer.Status{}
}

// awaitHave waits until the daemon has that many bytes.
func (d *Daemon) awaitHave(t testing.TB, have int64) peer.Status {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if st := d.status(t); st.Have >= have {
			return st
		}
	}
	t.Fatalf("%s does not get %d bytes", d.Name(), have)
	return peer.Status{}
}

// sameContent reports whether two files are equal.
func sameContent(ctx context.Context, a, b string) (bool, error) {
	x, err1 := contentSum(ctx, a)
	y, err2 := contentSum(ctx, b)
	return x == y, errors.Join(err1, err2)
}

// ID is the daemon's peer ID.
func (d *Daemon) ID() string { return d.proc.line[strings.LastIndexByte(d.proc.line, '/')+1:] }

// Get downloads to Out and returns when the content is complete.
func (d *Daemon) Get(ctx context.Context, link string) error {
	_, err := d.get(ctx, link)
	return err
}

// usage returns the resources of a running daemon.
func (d *Daemon) usage(t testing.TB) netns.Usage {
	t.Helper()
	u, err := d.proc.Process.Usage()
	if err != nil {
		t.Fatal(err)
	}
	return u
}
