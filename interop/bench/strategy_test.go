package bench

import (
	"testing"

	"github.com/mobgrid/mob/interop/netns"
)

// TestGridGossip transfers within one cluster by each permutation strategy, and kills a
// member on the way: all other nodes must get intact copies.
func TestGridGossip(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"permutation", "overlap1", "overlap2", "rb"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			needsGrid(t)
			c := testCase(t, "6", 15e6)
			c.Clusters[0].NIC = 6 * netns.MBps
			c.Kills = Kills{Percent: 20, After: c.Ideal() / 2}
			r := mustRunWasteful(t, newBench(t, c), Mob{Bin: bin(t), Options: []string{"coded=16", "strategy=" + name}})
			if len(r.Killed) != 1 {
				t.Errorf("%d nodes were killed, want 1", len(r.Killed))
			}
			t.Logf("%v", r)
		})
	}
}
