package sim

import (
	"testing"
	"time"
)

// TestCut cuts a node off during a transfer, which its cluster finishes meanwhile. When it
// is back it fetches from its cluster what that has, whoever is back first: while its sessions last,
// when some have been given up, and when all have.
func TestCut(t *testing.T) {
	const length, node = 120e6, 6
	for _, off := range []time.Duration{5, 8, 10, 13, 16, 20, 600} {
		off *= time.Second
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(2) {
				k := scenario(fast, length, 4*seed+4)
				k.Faults.Cuts = []Cut{{Node: node, At: 4 * time.Second, For: off}}
				k.Limit = off + time.Minute
				r := run(t, k)
				for _, c := range r.Copies {
					t.Logf("seed %d: %.3f copies in %s", k.Seed, c.Copies, c.Cluster)
					if c.Copies > 1.05 {
						t.Errorf("seed %d: %.3f copies entered %s\n%v", k.Seed, c.Copies, c.Cluster, r)
					}
				}
			}
		})
	}
}

// TestCutFromDead cuts a node off together with its whole cluster, which does not come back: the node
// fetches the rest over the WAN, and soon.
func TestCutFromDead(t *testing.T) {
	const length, node, off = 120e6, 6, 10 * time.Second
	alone := func(cuts ...Cut) *Report {
		k := scenario(fast, length, 1)
		k.Faults.Cuts = cuts
		for _, n := range []int{4, 5, 7} {
			k.Faults.Kills = append(k.Faults.Kills, Kill{Node: n, At: 4 * time.Second, Silent: true})
		}
		return run(t, k)
	}
	calm, r := alone(), alone(Cut{Node: node, At: 4 * time.Second, For: off})
	late := r.Finished[node] - calm.Finished[node]
	t.Logf("%v later than without the cut", late)
	if late > 3*off {
		t.Errorf("%v later than without the cut of %v\n%v", late, off, r)
	}
}
