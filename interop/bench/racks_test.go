package bench

import (
	"testing"

	"github.com/mobgrid/mob/interop/netns"
)

// TestRacks runs the programs on two sites of two racks of two. Each piece enters each site once,
// and each rack of it once. A node that knows its site only does not see where its rack ends.
func TestRacks(t *testing.T) {
	t.Parallel()
	const size, most = 24e6, 1.1 // the handshakes of small transfers count too
	needsGrid(t)
	c := testCase(t, "2x(2x2)", size)
	for i := range c.Clusters {
		c.Clusters[i].Uplink = 12.5 * netns.MBps
	}
	b := newBench(t, c)
	r := mustRun(t, b, Mob{Bin: bin(t)})
	for _, k := range append(r.Copies, r.RackCopies...) {
		least, limit := 1.0, most
		if k.Cluster == "A" || k.Cluster == "A/r1" {
			least, limit = 0, 0.1
		}
		if k.Copies < least || k.Copies > limit {
			t.Errorf("%v; want %.1f to %.1f", k, least, limit)
		}
	}
	flat := mustRun(t, b, Mob{Bin: bin(t), Options: []string{FlatOption}})
	sum := func(r *Run) (all float64) {
		for _, k := range r.RackCopies {
			all += k.Copies
		}
		return all
	}
	t.Logf("names by rack: %v\nnames cut to the site: %v", r.RackCopies, flat.RackCopies)
	if sum(flat) < sum(r)+0.3 {
		t.Errorf("%.2f copies entered all racks, and %.2f without names of racks", sum(r), sum(flat))
	}
}
