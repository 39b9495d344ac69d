package netns

import (
	"testing"
	"time"
)

// rackGrid is A with racks of three and two nodes, and B with one rack of one.
func rackGrid(t *testing.T, uplink Rate) *Grid {
	t.Helper()
	return newGrid(t, Config{Clusters: []Cluster{
		{Name: "A", Nodes: 5, Racks: []int{3, 2}, Uplink: uplink},
		{Name: "B", Nodes: 1, Racks: []int{1}, Uplink: uplink},
	}, Links: Uniform(100*MBps, "A", "B")})
}

func TestUplinksLimitRacksAlone(t *testing.T) {
	t.Parallel()
	const uplink = 5 * MBps
	g := rackGrid(t, uplink)
	flood(t, g.Node("A", 0), g.Node("A", 3)) // from rack to rack
	flood(t, g.Node("B", 0), g.Node("A", 4)) // into the same rack, from elsewhere
	flood(t, g.Node("A", 1), g.Node("A", 2)) // within a rack
	time.Sleep(settle)
	into := growth(t, uplinkBytes(g), time.Second, "A A/r2", "A/r1 A")
	within(t, "share of the uplink into a rack", into[0]/float64(uplink), TCPShare, 0.04)
	if into[1] <= 0 || into[1] >= into[0] {
		t.Errorf("one of two flows has %v of the %v that they share", Rate(into[1]), Rate(into[0]))
	}
	inside := growth(t, arriving(g, 2, "eth0"), 500*time.Millisecond, "A")[0]
	if inside < 10*float64(uplink) {
		t.Errorf("%v within a rack, beside uplinks of %v", Rate(inside), uplink)
	}
}

func TestUplinksLimitWhatLeaves(t *testing.T) {
	t.Parallel()
	const uplink = 5 * MBps
	g := rackGrid(t, uplink)
	flood(t, g.Node("A", 0), g.Node("A", 3))
	flood(t, g.Node("A", 1), g.Node("B", 0))
	time.Sleep(settle)
	out := growth(t, uplinkBytes(g), time.Second, "A/r1 A")[0]
	within(t, "share of the uplink out of a rack", out/float64(uplink), TCPShare, 0.04)
}

func TestUplinkBytesOfEachDirection(t *testing.T) {
	t.Parallel()
	const size = 4e6
	g := rackGrid(t, 0)
	send := func(from, to *Node) (copies float64) { return float64(transfer(t, from, to, size)) / size }
	inRack := send(g.Node("A", 0), g.Node("A", 1)) // no uplink
	inSite := send(g.Node("A", 0), g.Node("A", 3))
	overWAN := send(g.Node("B", 0), g.Node("A", 4))
	all, err := g.UplinkBytes()
	if err != nil {
		t.Fatal(err)
	}
	checkLinks(t, all, size, []copies{
		{"A", "A/r1", 0},
		{"A/r1", "A", inSite},
		{"A", "A/r2", inSite + overWAN},
		{"A/r2", "A", 0},
		{"B", "B/r1", 0},
		{"B/r1", "B", overWAN},
	})
	lan, err := g.LANBytes("A")
	if err != nil {
		t.Fatal(err)
	}
	within(t, "copies on the LAN of A", float64(lan)/size, inRack+inSite, 0.02)
}

func TestRacksJoinAllNodes(t *testing.T) {
	g := rackGrid(t, 20*MBps)
	nodes := append(g.Nodes("A"), g.Nodes("B")...)
	checkAddresses(t, nodes)
	for i, want := range []string{"A/r1", "A/r1", "A/r1", "A/r2", "A/r2", "B/r1"} {
		if got := nodes[i].Path; got != want {
			t.Errorf("node %d is in %s, want %s", i, got, want)
		}
	}
}

// TestManyRacks makes the grid of the largest case of the benchmarks.
func TestManyRacks(t *testing.T) {
	g := newGrid(t, Config{Clusters: []Cluster{{Name: "A", Nodes: 20, NIC: 12.5 * MBps, Racks: []int{5, 5, 5, 5}, Uplink: 25 * MBps}}})
	transfer(t, g.Node("A", 0), g.Node("A", 19), 1e6)
	if links, err := g.LinkBytes(); err != nil || len(links) != 0 {
		t.Errorf("%v, %v", links, err)
	}
}

// uplinkBytes counts the bytes of an uplink's direction, such as "A A/r1".
func uplinkBytes(g *Grid) func(direction string) (uint64, error) {
	return func(direction string) (uint64, error) {
		all, err := g.UplinkBytes()
		for _, l := range all {
			if l.From+" "+l.To == direction {
				return l.Bytes, err
			}
		}
		return 0, err
	}
}
