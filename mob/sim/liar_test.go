package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/mobgrid/mob/mob"
)

// TestLiar makes a member whose blocks are all false: all other nodes get the content, and each
// takes only a few bad pieces from it, and those on their way, before it asks others.
func TestLiar(t *testing.T) {
	long(t)
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
			k := scenario(fast, c.length, 1)
			k.Clusters, k.RTT, k.PieceLength = grid(c.sizes...), c.rtt, 64<<10
			k.Faults.Corrupters = []int{c.liar}
			r := run(t, k)
			nodes := len(r.Finished)
			t.Logf("%d nodes, %d pieces failed, %v", nodes, r.Failed, r.Time)
			if r.Missing > 0 {
				t.Errorf("%d nodes are not complete\n%v", r.Missing, r)
			}
			if most := 2 * nodes * mob.DefaultTuning().Strikes; r.Failed > most {
				t.Errorf("%d pieces failed at %d nodes, want at most %d", r.Failed, nodes, most)
			}
		})
	}
}
