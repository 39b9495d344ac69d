package sim

import (
	"slices"
	"testing"
	"time"
)

// TestUndelivered makes a member of a cluster that claims pieces and does not deliver them. The
// others finish little later than without it, and fetch little twice.
func TestUndelivered(t *testing.T) {
	const length = 120e6
	calm := last(run(t, scenario(fast, length, 1)), 6)
	for name, faults := range map[string]Faults{
		"claims all pieces":         {Claimers: []int{6}},
		"says that it is complete":  {Boasters: []int{6}},
		"two say that they are":     {Boasters: []int{6, 7}},
		"disk hangs at the start":   {Hangs: map[int]int{6: 0}},
		"disk hangs half way":       {Hangs: map[int]int{6: 240}},
		"delivers one block in ten": {Tricklers: []int{6}},
		"in the source's cluster":   {Boasters: []int{2}, Claimers: []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			k := scenario(fast, length, 1)
			k.Faults = faults
			r, err := Run(k)
			if err != nil {
				t.Fatal(err)
			}
			ratio := last(r, 6).Seconds() / calm.Seconds()
			t.Logf("%.2f times the time without, %d nodes missing, copies %v", ratio, r.Missing, r.Copies)
			most := 1.25
			if faults.Tricklers != nil {
				most = 1.5 // up to 1.31, by the seed
			}
			if r.Missing > 0 || ratio > most {
				t.Errorf("%.2f times the time without, want %.2f\n%v", ratio, most, r)
			}
			atMost(t, r, 1.2)
		})
	}
}

// atMost bounds the copies that enter each cluster.
func atMost(t *testing.T, r *Report, copies float64) {
	t.Helper()
	for _, c := range r.Copies {
		if c.Copies > copies {
			t.Errorf("%.3f copies into %s, want %.2f", c.Copies, c.Cluster, copies)
		}
	}
}

// TestSlowNodes makes nodes that rarely get the CPU, so that they answer after 0.5 to 5 s. They are
// slow, not dead: each piece enters a cluster about once.
func TestSlowNodes(t *testing.T) {
	for _, c := range []struct {
		name  string
		sizes []int
		some  int // of n nodes one is slow
	}{
		{"4 to 32, one of four", []int{4, 12, 16, 32}, 4},
		{"4 to 32, all", []int{4, 12, 16, 32}, 1},
		{"4x4, all", []int{4, 4, 4, 4}, 1},
		{"20x10, all", slices.Repeat([]int{10}, 20), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.sizes[1] > 4 {
				long(t)
			}
			k := scenario(fast, 30e6, 1)
			k.Clusters, k.PieceLength, k.Limit = grid(c.sizes...), 64<<10, time.Hour
			for i := range k.nodes() {
				if i%c.some == 0 {
					k.Faults.Slow = append(k.Faults.Slow, i)
				}
			}
			start := time.Now()
			r, err := Run(k)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%.1f s of wall time\n%v", time.Since(start).Seconds(), r)
			if r.Missing > 0 {
				t.Errorf("%d nodes are not complete", r.Missing)
			}
			atMost(t, r, 1.1)
		})
	}
}
