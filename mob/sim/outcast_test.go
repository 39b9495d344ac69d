package sim

import (
	"fmt"
	"testing"
	"time"
)

// TestOutcast has a member whose blocks are all false. Its mob shows it out, and the others
// are whole hardly later than without it, and hardly more bytes cross the links: other
// clusters do not spend those on it.
func TestOutcast(t *testing.T) {
	for _, c := range []struct {
		sizes  []int
		liar   int
		length int64
		rtt    time.Duration
	}{
		{[]int{4, 4, 4, 4}, 10, 60e6, 0},
		{[]int{4, 4, 4, 4}, 6, 120e6, 0},
		{[]int{4, 4, 4, 4}, 2, 60e6, 0}, // of the source's cluster
		{[]int{4, 4, 4, 4}, 10, 60e6, 100 * time.Millisecond},
		{[]int{4, 12, 16, 32}, 6, 60e6, 0},
		{[]int{4, 12, 16, 32}, 40, 60e6, 0},
		{[]int{16, 3, 3, 3}, 20, 60e6, 0},
	} {
		t.Run(fmt.Sprintf("%v, node %d, RTT %v", c.sizes, c.liar, c.rtt), func(t *testing.T) {
			for seed := range uint64(3) {
				k := standard(t, Fast, c.length, seed+1)
				k.Clusters, k.RTT, k.PieceLength = Grid(c.sizes...), c.rtt, 64<<10
				calm := run(t, k)
				k.Faults.Liars = []int{c.liar}
				r := run(t, k)
				last := time.Duration(0)
				for i, d := range r.Finished {
					if i != c.liar {
						last = max(last, d)
					}
				}
				ratio := last.Seconds() / calm.Time.Seconds()
				t.Logf("seed %d: %.2f times the time without, copies %.3v, %d pieces failed", k.Seed, ratio, r.Copies, r.Failed)
				if ratio > 1.15 {
					t.Errorf("%.2f times the time without\n%v", ratio, r)
				}
				for _, cc := range r.Copies {
					if cc.Copies > 1.15 {
						t.Errorf("%.2f copies into %s", cc.Copies, cc.Cluster)
					}
				}
			}
		})
	}
}
