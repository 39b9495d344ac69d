package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// racks is sites A, B, C and so on, of racks r1, r2 and so on with the given number of nodes.
func racks(sites, each, nodes int) []Cluster {
	var all []Cluster
	for s := range sites {
		for r := range each {
			all = append(all, Cluster{Name: fmt.Sprintf("%c/r%d", 'A'+s, r+1), Nodes: nodes})
		}
	}
	return all
}

// twoSites is two sites of two racks of four nodes.
func twoSites(length int64, seed uint64) Config {
	wan := constant(3e6)
	return Config{
		Clusters: racks(2, 2, 4), Length: length, PieceLength: 256 << 10, Seed: seed,
		Links: Links{{"A", "B"}: wan, {"B", "A"}: wan}, Uplink: 12.5e6,
	}
}

func TestIdealWithUplinks(t *testing.T) {
	for _, c := range []struct {
		uplink, nic float64
		want        time.Duration
	}{{0, 0, 10}, {12.5e6, 0, 10}, {2e6, 0, 15}, {2e6, 1e6, 30}} {
		k := twoSites(30e6, 1)
		k.Uplink, k.NIC = c.uplink, c.nic
		if got := k.Ideal().Round(time.Millisecond); got != c.want*time.Second {
			t.Errorf("uplinks of %v, NICs of %v: %v, want %d s", c.uplink, c.nic, got, c.want)
		}
	}
}

// TestUplinks makes nodes that know their site only, so that what crosses the uplinks is the
// network's doing: uplinks are shared by all nodes of a rack, and nothing inside a rack passes them.
func TestUplinks(t *testing.T) {
	c := twoSites(30e6, 1)
	c.Flat = true
	r := run(t, c)
	t.Log(r)
	oneCopy(t, "names cut to the site", r)
	if len(r.Copies) != 2 || len(r.RackCopies) != 4 || len(r.Links) != 2 {
		t.Fatalf("copies %v, of racks %v, links %v", r.Copies, r.RackCopies, r.Links)
	}
	// Blocks that enter B enter a rack of it, and with two racks about half of what members get
	// from each other crosses uplinks.
	for _, k := range r.RackCopies[2:] {
		if k.Copies < 1 || k.Copies > 3.5 {
			t.Errorf("%.3f copies into %s", k.Copies, k.Cluster)
		}
	}
	c.Uplink = 1e6
	slow := run(t, c)
	if slow.Share() > 1 || slow.Ideal != 30*time.Second || slow.Time < 2*r.Time {
		t.Errorf("uplinks of 1 MB/s:\n%v\nof 12.5 MB/s:\n%v", slow, r)
	}
	if slow.RackCopies[2].Copies < 1 {
		t.Errorf("%.3f copies", slow.RackCopies[2].Copies)
	}
}

// TestSiteOfOneRack limits nothing but the NICs: the uplink carries nothing.
func TestSiteOfOneRack(t *testing.T) {
	r := run(t, Config{
		Clusters: []Cluster{{"A/r1", 5}}, Length: 20e6, PieceLength: 256 << 10, NIC: 10e6, Uplink: 1, Seed: 1,
	})
	if r.Share() < 0.8 || r.RackCopies[0].Copies != 0 {
		t.Error(r)
	}
}

// TestSitesByPath makes clusters of one, two and three parts.
func TestSitesByPath(t *testing.T) {
	c := Config{Clusters: []Cluster{{"A", 1}, {"B/r1", 1}, {"A/r1", 1}, {"B/r1/c", 1}, {"C", 1}}}
	names, of := c.sites()
	if !slices.Equal(names, []string{"A", "B", "C"}) || !slices.Equal(of, []int{0, 1, 0, 1, 2}) {
		t.Errorf("%v, %v", names, of)
	}
}
