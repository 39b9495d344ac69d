package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob/coded"
)

// oneCopyPerRack fails if a site or a rack got much more than one copy.
func oneCopyPerRack(t *testing.T, name string, r *Report, most float64) {
	t.Helper()
	for _, k := range append(r.Copies, r.RackCopies...) {
		if k.Copies > most {
			t.Errorf("%s: %.3f copies into %s", name, k.Copies, k.Cluster)
		}
	}
}

// TestRacks makes each piece cross each uplink once, where the WAN is the limit and where a rack is.
func TestRacks(t *testing.T) {
	oneSite := Config{
		Clusters: racks(1, 4, 5), Length: 100e6, PieceLength: 128 << 10, NIC: 12.5e6, Uplink: 25e6, Seed: 1,
	}
	many := oneSite
	many.Clusters = racks(1, 10, 5)
	narrow := twoSites(60e6, 1)
	narrow.Uplink = 4e6
	for name, c := range map[string]struct {
		Config
		share float64
	}{
		"WAN":     {twoSites(60e6, 1), 0.95},
		"uplinks": {narrow, 0.8},
		"NICs":    {oneSite, 0.88},
		"many":    {many, 0.7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, c.Config)
			t.Log(r)
			if r.Share() < c.share || r.ControlPerPayload > 0.005 {
				t.Errorf("%.3f of the bound, %.4f control", r.Share(), r.ControlPerPayload)
			}
			oneCopyPerRack(t, name, r, 1.05)
		})
	}
}

// TestOddRacks makes racks of one node, nodes beside racks, racks of racks, and a site with none.
func TestOddRacks(t *testing.T) {
	t.Parallel()
	wan := constant(3e6)
	r := run(t, Config{
		Clusters: []Cluster{{"A", 2}, {"A/r1", 1}, {"A/r2", 1}, {"A/r3/c1", 2}, {"A/r3/c2", 2}, {"B", 3}, {"B/r1", 3}},
		Length:   20e6, PieceLength: 64 << 10, Uplink: 12.5e6, Seed: 1,
		Links: Links{{"A", "B"}: wan, {"B", "A"}: wan},
	})
	t.Log(r)
	if r.Share() < 0.8 {
		t.Errorf("%.3f of the bound", r.Share())
	}
	oneCopyPerRack(t, "odd", r, 1.1)
}

// TestManyRacks makes a site with more racks than a node keeps sessions.
func TestManyRacks(t *testing.T) {
	if testing.Short() {
		t.Skip("140 nodes")
	}
	t.Parallel()
	r := run(t, Config{
		Clusters: racks(1, 140, 1), Length: 4e6, PieceLength: 64 << 10, Uplink: 12.5e6, Seed: 1,
	})
	t.Logf("%.300s", fmt.Sprint(r))
	if r.Missing > 0 {
		t.Errorf("%d nodes are not complete", r.Missing)
	}
	oneCopyPerRack(t, "many", r, 1.2)
}

// TestKillsInRacks kills a node in each rack: others take over what it has claimed.
func TestKillsInRacks(t *testing.T) {
	t.Parallel()
	c := twoSites(60e6, 1)
	for _, n := range []int{2, 5, 8, 12} {
		c.Faults.Kills = append(c.Faults.Kills, Kill{Node: n, At: 8 * time.Second, Silent: n%2 == 0})
	}
	r := run(t, c)
	t.Log(r)
	if r.Share() < 0.6 {
		t.Errorf("%.3f of the bound", r.Share())
	}
	oneCopyPerRack(t, "kills", r, 1.15)
}

// TestCodedRacks makes coded blocks cross each uplink about as often as a generation has source blocks.
func TestCodedRacks(t *testing.T) {
	t.Parallel()
	c := twoSites(40e6, 1)
	c.PieceLength, c.Coding = 64<<10, coded.Coding{Blocks: 16, Names: 64, Live: 8}
	r := run(t, c)
	t.Log(r)
	if r.Share() < 0.7 {
		t.Errorf("%.3f of the bound", r.Share())
	}
	oneCopyPerRack(t, "coded", r, 1.15)
}
