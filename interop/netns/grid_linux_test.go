package netns

import (
	"errors"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestGridJoinsAllNodes(t *testing.T) {
	build := func(each int) (g *Grid, least time.Duration) { // the least of three: the machine has other work
		for i := range 3 {
			start := time.Now()
			g = newGrid(t, Config{Clusters: Clusters(each, each, each, each), Links: Fast()})
			if took := time.Since(start); i == 0 || took < least {
				least = took
			}
		}
		return g, least
	}
	_, four := build(1)
	g, all := build(4)
	if all > 8*four {
		t.Errorf("a grid of 16 nodes took %v, and one of 4 %v", all, four)
	}
	for _, from := range g.gateways {
		for i, n := range from.nodes {
			for _, to := range g.gateways {
				if other := to.nodes[(i+1)%len(to.nodes)]; other != n {
					open(t, n, other).close()
				}
			}
		}
	}
}

// The neighbor tables have room for all nodes. With ARP they would exceed the kernel's limit for
// the whole machine.
func TestLargeClusters(t *testing.T) {
	if testing.Short() {
		t.Skip("a grid of 64 nodes: not with -short")
	}
	even := Clusters(16, 16, 16, 16)
	for i := range even {
		even[i].WANNIC = 50 * MBps
	}
	for _, c := range []Config{
		{Clusters: Clusters(4, 12, 16, 32), Links: Fast()},
		{Clusters: even, Links: Fast(), RTT: 5 * time.Millisecond},
	} {
		g := newGrid(t, c)
		d := g.Nodes("D")
		for i, n := range d {
			for _, other := range d[i+1:] {
				open(t, n, other).close()
			}
			open(t, n, g.Node("B", i%12)).close()
		}
	}
}

func TestGridOfOneCluster(t *testing.T) {
	const size = 1e6
	g := newGrid(t, Config{Clusters: []Cluster{{Name: "A", Nodes: 2, WANNIC: 1 * MBps}}, RTT: time.Second})
	transfer(t, g.Node("A", 0), g.Node("A", 1), size)
	wan, err := g.WANBytes("A")
	if links, linksErr := g.LinkBytes(); wan != 0 || err != nil || len(links) != 0 || linksErr != nil {
		t.Errorf("%d bytes over the WAN (%v), links %v (%v)", wan, err, links, linksErr)
	}
	lan, err := g.LANBytes("A")
	if err != nil {
		t.Fatal(err)
	}
	within(t, "copies on the LAN", float64(lan)/size, 1, 0.05)
}

func TestNodesThatDoNotExist(t *testing.T) {
	g := newGrid(t, Config{Clusters: Clusters(1, 1), Links: Uniform(1*MBps, "A", "B")})
	if g.Node("A", 1) != nil || g.Node("A", -1) != nil || g.Node("C", 0) != nil {
		t.Error("found a node that does not exist")
	}
	if _, err := g.WANBytes("C"); err == nil {
		t.Error("no error for a cluster that does not exist")
	}
	if g.SetRate("A", "A", 1*MBps) == nil || g.SetRate("A", "C", 1*MBps) == nil || g.SetRate("A", "B", 0) == nil {
		t.Error("no error for a rate that cannot be set")
	}
}

func TestClosedGrid(t *testing.T) {
	g := newGrid(t, Config{Clusters: Clusters(1, 1), Links: Uniform(1*MBps, "A", "B")})
	for range 2 {
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	n := g.Node("A", 0)
	if _, err := n.Start(exec.Command("true")); !errors.Is(err, ErrClosed) {
		t.Errorf("Start: %v", err)
	}
	if err := n.Do(func() error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("Do: %v", err)
	}
	if err := g.SetRate("A", "B", 1*MBps); !errors.Is(err, ErrClosed) {
		t.Errorf("SetRate: %v", err)
	}
	if _, err := g.WANBytes("A"); !errors.Is(err, ErrClosed) {
		t.Errorf("WANBytes: %v", err)
	}
}

func TestNodesSeeOnlyTheGrid(t *testing.T) {
	g := newGrid(t, Config{Clusters: Clusters(1)})
	var names []string
	err := g.Node("A", 0).Do(func() error {
		all, err := net.Interfaces()
		for _, i := range all {
			names = append(names, i.Name)
		}
		return err
	})
	if got := strings.Join(names, " "); err != nil || got != "lo eth0" {
		t.Errorf("interfaces %q, %v", got, err)
	}
}
