package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

const (
	lingerSize = 48e6
	lingerWAN  = 12 * netns.MBps
	lingerNIC  = 12.5 * netns.MBps
	lingerRTT  = 40 * time.Millisecond
)

// lingerFleet makes a grid with a tracker and a seed in cluster A, and n nodes without daemons in cluster B.
func lingerFleet(t testing.TB, n int, size int64) (f *Fleet, link string) {
	t.Helper()
	needsGrid(t)
	clusters := netns.Clusters(1, n)
	for i := range clusters {
		clusters[i].NIC = lingerNIC
	}
	grid := newGrid(t, netns.Config{Clusters: clusters, Links: netns.Uniform(lingerWAN, "A", "B"), RTT: lingerRTT})
	f = &Fleet{Grid: grid, Bin: bin(t), Dir: t.TempDir()}
	f.startTracker(t, grid.Node("A", 0))
	link = f.startDaemon(t, grid.Node("A", 0)).mustSeed(t, size)
	return f, link
}

// getOnce is a `mob get` without a daemon. It is the writer of its output.
type getOnce struct {
	*netns.Program
	began   time.Time
	receipt chan time.Time
	left    chan time.Time
}

// Write implements io.Writer.
func (g *getOnce) Write(b []byte) (int, error) {
	g.receipt <- time.Now()
	return len(b), nil
}

// get starts a get at a node.
func (f *Fleet) get(node *netns.Node, link, name string, flags ...string) (*getOnce, error) {
	dir := filepath.Join(f.Dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	args := []string{"--data", dir, "get", link, "-o", dir + ".out", "-q", "--cluster", node.Cluster,
		"--listen", fmt.Sprintf("/ip4/%s/tcp/0", node.IP)}
	cmd := exec.Command(filepath.Join(f.Bin, "mob"), append(args, flags...)...)
	g := &getOnce{began: time.Now(), receipt: make(chan time.Time, 16), left: make(chan time.Time, 1)}
	cmd.Stdout = g
	var err error
	if g.Program, err = node.StartProgram(cmd, filepath.Join(dir, "log")); err != nil {
		return nil, err
	}
	go func() {
		<-g.Ended()
		g.left <- time.Now()
	}()
	return g, nil
}

// end waits for the end of a get. It returns the time until the receipt, and from there to the end.
func (g *getOnce) end() (took, lingered time.Duration, err error) {
	if err := g.Wait(); err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, g.LastLine())
	}
	at := <-g.receipt
	return at.Sub(g.began), (<-g.left).Sub(at), nil
}

// overlapping runs n gets of one cluster, each a delay after the one before. It returns the copies that entered
// the cluster, and the time until the receipt of each.
func overlapping(t testing.TB, n int, delay time.Duration) (c ClusterCopies, took []time.Duration) {
	t.Helper()
	f, link := lingerFleet(t, n, lingerSize)
	before := f.received(t, "B")[0]
	machine := busyShare(t)
	var gets []*getOnce
	for i, node := range f.Grid.Nodes("B") {
		if i > 0 {
			time.Sleep(delay)
		}
		g, err := f.get(node, link, node.Name())
		if err != nil {
			t.Fatal(err)
		}
		gets = append(gets, g)
	}
	for i, g := range gets {
		d, lingered, err := g.end()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("receipt after %v, end %v later", d, lingered)
		took = append(took, d)
		if i == n-1 && lingered > 5*time.Second && machine() < fullyBusy {
			t.Errorf("the last get left after %v, although all nodes were complete", lingered)
		}
	}
	return newClusterCopies("B", f.received(t, "B")[0].Sub(before), lingerSize), took
}

// TestLinger runs gets that overlap, without daemons: one copy enters their cluster, and the second node is
// about as fast as the first.
func TestLinger(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		nodes int
		delay time.Duration
	}{{2, 3500 * time.Millisecond}, {3, 2 * time.Second}} {
		t.Run(fmt.Sprintf("%d nodes %v apart", c.nodes, c.delay), func(t *testing.T) {
			t.Parallel()
			machine := busyShare(t)
			copies, took := overlapping(t, c.nodes, c.delay)
			t.Log(copies, took)
			if err := copies.CheckContent(0); err != nil {
				t.Error(err)
			}
			if slices.Max(took[1:]) > took[0]*12/10 && machine() < fullyBusy {
				t.Errorf("later nodes took %v, the first one %v", took[1:], took[0])
			}
		})
	}
}

// BenchmarkLinger reports the copies that enter the cluster of overlapping gets, and the time of the slowest
// that is not the first.
func BenchmarkLinger(b *testing.B) {
	for _, nodes := range []int{2, 3} {
		for _, delay := range []time.Duration{2 * time.Second, 3500 * time.Millisecond} {
			b.Run(fmt.Sprintf("nodes=%d/delay=%v", nodes, delay), func(b *testing.B) {
				for b.Loop() {
					copies, took := overlapping(b, nodes, delay)
					b.ReportMetric(copies.Copies, "copies")
					b.ReportMetric(slices.Max(took[1:]).Seconds(), "s/later-get")
				}
			})
		}
	}
}

// TestLingerStopped stops a node of the cluster during its get. The other node leaves ten seconds after it has
// served the last request.
func TestLingerStopped(t *testing.T) {
	t.Parallel()
	f, link := lingerFleet(t, 2, lingerSize)
	stopped, err := f.get(f.Grid.Node("B", 1), link, "stopped")
	if err != nil {
		t.Fatal(err)
	}
	g, err := f.get(f.Grid.Node("B", 0), link, "running")
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if err := stopped.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	machine := busyShare(t)
	took, lingered, err := g.end()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("receipt after %v, end %v later", took, lingered)
	latest := 12 * time.Second
	if machine() >= fullyBusy {
		latest = time.Minute // it would serve for ten
	}
	if lingered < 5*time.Second || lingered > latest {
		t.Errorf("left %v after its receipt", lingered)
	}
	if err := stopped.Kill(); err != nil {
		t.Error(err)
	}
}

// TestLingerAlone runs gets that have no one to serve. The end follows the receipt sooner than the receipt follows
// the start: the shortest of five times each, as a busy machine delays both.
func TestLingerAlone(t *testing.T) {
	t.Parallel()
	f, link := lingerFleet(t, 1, 1e5)
	for _, cluster := range []string{"A", "B"} {
		var took, lingered []time.Duration
		for i := range 5 {
			g, err := f.get(f.Grid.Node(cluster, 0), link, fmt.Sprint("get-", cluster, i))
			if err != nil {
				t.Fatal(err)
			}
			d, l, err := g.end()
			if err != nil {
				t.Fatal(err)
			}
			took, lingered = append(took, d), append(lingered, l)
		}
		t.Logf("%s: receipts after %v, ends %v later", cluster, took, lingered)
		if slices.Min(lingered) > slices.Min(took) {
			t.Errorf("%s: receipts after %v, ends %v later", cluster, took, lingered)
		}
	}
}
