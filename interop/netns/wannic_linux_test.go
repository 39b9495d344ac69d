package netns

import (
	"net"
	"testing"
	"time"
)

// Nodes with two interfaces receive from other clusters at the sum of their WANNICs, and from each
// other at any rate at the same time.
func TestWANNICsLimitTheWANAlone(t *testing.T) {
	t.Parallel()
	const wan = 4 * MBps
	g := newGrid(t, Config{Clusters: []Cluster{{Name: "A", Nodes: 3, WANNIC: wan}, {Name: "B", Nodes: 3}},
		Links: Uniform(40*MBps, "A", "B")})
	strictReversePath(t, g)
	flood(t, g.Node("B", 0), g.Node("A", 0))
	flood(t, g.Node("B", 1), g.Node("A", 1))
	flood(t, g.Node("A", 2), g.Node("B", 2))
	flood(t, g.Node("A", 0), g.Node("A", 1))
	time.Sleep(settle)
	// Counted where it arrives: the WAN's counters include what the queue of a WANNIC drops.
	fetched := func(cluster string) (uint64, error) {
		one, err := arriving(g, 0, "eth1")(cluster)
		if err != nil {
			return 0, err
		}
		other, err := arriving(g, 1, "eth1")(cluster)
		return one + other, err
	}
	within(t, "two nodes fetch, in WANNICs", growth(t, fetched, time.Second, "A")[0]/float64(wan), 2*TCPShare, 0.06)
	sent := growth(t, g.WANBytes, time.Second, "B")[0]
	within(t, "one node sends, in WANNICs", sent/float64(wan), TCPShare, 0.08) // with acknowledgements of the other ones
	if lan := growth(t, g.LANBytes, 500*time.Millisecond, "A")[0]; lan < 10*float64(wan) {
		t.Errorf("LAN at %v beside WANNICs of %v", Rate(lan), wan)
	}
}

func TestWANNICsBesideASlowNIC(t *testing.T) {
	t.Parallel()
	const nic, wan = 2 * MBps, 8 * MBps
	g := newGrid(t, Config{Clusters: []Cluster{{Name: "A", Nodes: 2, NIC: nic, WANNIC: wan}, {Name: "B", Nodes: 1}},
		Links: Uniform(40*MBps, "A", "B")})
	flood(t, g.Node("B", 0), g.Node("A", 0))
	flood(t, g.Node("A", 0), g.Node("A", 1))
	time.Sleep(settle)
	within(t, "share of the WANNIC", growth(t, arriving(g, 0, "eth1"), time.Second, "A")[0]/float64(wan), TCPShare, 0.06)
	within(t, "share of the NIC", growth(t, g.LANBytes, time.Second, "A")[0]/float64(nic), TCPShare, 0.06)
}

// A node with two interfaces has one address, at either end of a connection.
func TestWANNICsKeepOneAddress(t *testing.T) {
	t.Parallel()
	const size = 2e6
	two := Cluster{Name: "A", Nodes: 2, WANNIC: 50 * MBps}
	g := newGrid(t, Config{Clusters: []Cluster{two, {Name: "B", Nodes: 2, WANNIC: 50 * MBps}, {Name: "C", Nodes: 1}},
		Links: Uniform(40*MBps, "A", "B", "C")})
	strictReversePath(t, g)
	nodes := []*Node{g.Node("A", 0), g.Node("A", 1), g.Node("B", 0), g.Node("B", 1), g.Node("C", 0)}
	checkAddresses(t, nodes)
	transfer(t, nodes[0], nodes[1], size)
	transfer(t, nodes[2], nodes[0], size)
	for name, f := range map[string]func(string) (uint64, error){"LAN": g.LANBytes, "WAN": g.WANBytes} {
		n, err := f("A")
		if err != nil {
			t.Fatal(err)
		}
		within(t, "copies on the "+name, float64(n)/size, 1, 0.02)
	}
}

// checkAddresses connects each two nodes, which see each other at their addresses.
func checkAddresses(t *testing.T, nodes []*Node) {
	t.Helper()
	for _, from := range nodes {
		for _, to := range nodes {
			if from == to {
				continue
			}
			c := open(t, from, to)
			if got := c.server.RemoteAddr().(*net.TCPAddr).IP.String(); got != from.IP.String() {
				t.Errorf("%v is seen as %s by %v", from.IP, got, to.IP)
			}
			c.close()
		}
	}
}

// strictReversePath has all namespaces drop packets that do not arrive where a reply would leave.
func strictReversePath(t *testing.T, g *Grid) {
	t.Helper()
	for _, gw := range g.gateways {
		spaces := []namespace{gw.ns}
		for _, n := range gw.nodes {
			spaces = append(spaces, n.ns)
		}
		for _, ns := range spaces {
			if err := g.in(ns, func() error { return writeSysctl("net/ipv4/conf/all/rp_filter", "1") }); err != nil {
				t.Fatal(err)
			}
		}
	}
}
