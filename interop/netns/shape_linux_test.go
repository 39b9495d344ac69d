package netns

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// settle is enough time for TCP to fill a link and its queue.
const settle = 700 * time.Millisecond

func TestLinksKeepTheirRates(t *testing.T) {
	t.Parallel()
	links := Uniform(1*MBps, "A", "B", "C", "D", "E").
		With("A", "B", 3*MBps).With("A", "C", 6*MBps).With("A", "D", 30*MBps)
	g := newGrid(t, Config{Clusters: Clusters(4, 1, 1, 1, 1), Links: links})
	for i, to := range []string{"B", "C", "D", "E"} {
		flood(t, g.Node("A", i), g.Node(to, 0))
	}
	time.Sleep(settle)
	in := growth(t, g.WANBytes, 2*time.Second, "B", "C", "D", "E")
	within(t, "6 MB/s to 3 MB/s", in[1]/in[0], 2, 0.03)
	within(t, "30 MB/s to 3 MB/s", in[2]/in[0], 10, 0.04)
	within(t, "1 MB/s to 3 MB/s", in[3]/in[0], 1./3, 0.06) // one frame in thirty, and one in ninety
	within(t, "share of 6 MB/s", in[1]/float64(6*MBps), TCPShare, 0.04)
}

func TestSetRateOnALiveLink(t *testing.T) {
	t.Parallel()
	g := newGrid(t, Config{Clusters: Clusters(2, 1, 1), Links: Uniform(20*MBps, "A", "B", "C")})
	// One flow each way, on two links: on one link, acknowledgements would wait behind the frames
	// of the other flow.
	flood(t, g.Node("A", 0), g.Node("B", 0))
	flood(t, g.Node("C", 0), g.Node("A", 1))
	time.Sleep(settle)
	before := growth(t, g.WANBytes, time.Second, "A", "B")
	for _, end := range []string{"B", "C"} {
		if err := g.SetRate(end, "A", 5*MBps); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(settle)
	after := growth(t, g.WANBytes, time.Second, "A", "B")
	within(t, "A to B, after and before", after[1]/before[1], 0.25, 0.06)
	within(t, "C to A, after and before", after[0]/before[0], 0.25, 0.06)
}

func TestPlayFollowsTheScenario(t *testing.T) {
	t.Parallel()
	fast, slow := Uniform(20*MBps, "A", "B"), Uniform(4*MBps, "A", "B")
	g := newGrid(t, Config{Clusters: Clusters(1, 1), Links: Uniform(1*MBps, "A", "B")})
	flood(t, g.Node("A", 0), g.Node("B", 0))
	rateAfter := func(s Scenario) float64 {
		if err := g.Play(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		time.Sleep(settle)
		return growth(t, g.WANBytes, time.Second, "B")[0]
	}
	before := rateAfter(Switch(slow, fast, 300*time.Millisecond))
	after := rateAfter(Switch(fast, slow, 300*time.Millisecond))
	within(t, "after and before", after/before, 0.2, 0.06)

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := g.Play(ctx, Mayhem(fast, 10*time.Millisecond, 1)); err != nil {
		t.Errorf("end of an endless scenario: %v", err)
	}
	if err := g.Play(t.Context(), Steady(Fast())); err == nil {
		t.Error("no error for links that the grid does not have")
	}
}

func TestNICsAreLimitedBothWays(t *testing.T) {
	t.Parallel()
	const nic = 10 * MBps
	g := newGrid(t, Config{Clusters: []Cluster{{Name: "A", Nodes: 3, NIC: nic}, {Name: "B", Nodes: 3, NIC: nic}},
		Links: Uniform(100*MBps, "A", "B")})
	for i := 1; i <= 2; i++ {
		flood(t, g.Node("A", 0), g.Node("A", i)) // two flows out of one node
		flood(t, g.Node("B", i), g.Node("B", 0)) // two flows into one node
	}
	time.Sleep(settle)
	out := growth(t, g.LANBytes, time.Second, "A")[0]
	in := growth(t, arriving(g, 0, "eth0"), time.Second, "B")[0]
	within(t, "share of a NIC going out", out/float64(nic), TCPShare, 0.06)
	within(t, "share of a NIC coming in", in/float64(nic), TCPShare, 0.06)
}

func TestSlowNodes(t *testing.T) {
	t.Parallel()
	const nic, slow = 20 * MBps, 5 * MBps
	g := newGrid(t, Config{Clusters: []Cluster{
		{Name: "A", Nodes: 4, NIC: nic, SlowNIC: map[int]Rate{1: slow}}, // into a slow node
		{Name: "B", Nodes: 2, SlowNIC: map[int]Rate{0: slow}},           // out of a slow node, to one without a limit
	}, Links: Uniform(100*MBps, "A", "B")})
	flood(t, g.Node("A", 0), g.Node("A", 1))
	flood(t, g.Node("A", 2), g.Node("A", 3))
	flood(t, g.Node("B", 0), g.Node("B", 1))
	time.Sleep(settle)
	into := growth(t, arriving(g, 1, "eth0"), time.Second, "A", "B")
	other := growth(t, arriving(g, 3, "eth0"), time.Second, "A")[0]
	within(t, "slow node and another", into[0]/other, float64(slow/nic), 0.06)
	within(t, "share going out of a slow node", into[1]/float64(slow), TCPShare, 0.06)
}

func TestBytesAreCounted(t *testing.T) {
	t.Parallel()
	const size = 8e6
	g := newGrid(t, Config{Clusters: Clusters(2, 2, 2), Links: Uniform(40*MBps, "A", "B", "C")})
	transfer(t, g.Node("A", 0), g.Node("B", 0), size)
	transfer(t, g.Node("C", 0), g.Node("B", 1), size)
	transfer(t, g.Node("B", 0), g.Node("B", 1), size)
	count := func(f func(string) (uint64, error), cluster string) float64 {
		n, err := f(cluster)
		if err != nil {
			t.Fatal(err)
		}
		return float64(n) / size
	}
	within(t, "copies over the WAN into B", count(g.WANBytes, "B"), 2, 0.02)
	within(t, "copies on the LAN of B", count(g.LANBytes, "B"), 1, 0.02)
	for _, c := range []string{"A", "C"} { // acknowledgements only
		if wan, lan := count(g.WANBytes, c), count(g.LANBytes, c); wan > 0.05 || lan > 0.01 {
			t.Errorf("%.3f copies over the WAN into %s, %.3f on its LAN", wan, c, lan)
		}
	}
}

func TestCongestionControl(t *testing.T) {
	t.Parallel()
	newGrid(t, Config{Clusters: Clusters(1)})
	if g, err := New(Config{Clusters: Clusters(1), Congestion: "nonsense"}); err == nil {
		t.Error("a grid with congestion control nonsense", g.Close())
	}
	for _, want := range []string{"cubic", "reno"} {
		for _, only := range []bool{false, true} {
			g := newGrid(t, Config{
				Clusters: Clusters(2, 1), Links: Uniform(40*MBps, "A", "B"), Congestion: want, CongestionOnly: only,
			})
			for _, to := range []*Node{g.Node("A", 1), g.Node("B", 0)} {
				c := open(t, g.Node("A", 0), to)
				raw, err := c.server.SyscallConn()
				if err != nil {
					t.Fatal(err)
				}
				var got string
				var choice error
				err = raw.Control(func(fd uintptr) {
					got, _ = unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
					choice = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno")
				})
				if err != nil || got != want {
					t.Errorf("connection to %s%d uses %q, want %q (%v)", to.Cluster, to.Index, got, want, err)
				}
				if (choice != nil) != only {
					t.Errorf("choosing another on a grid with %s, only %v: %v", want, only, choice)
				}
			}
		}
	}
}
