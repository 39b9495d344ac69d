package peer

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mobgrid/mob/proto"
)

// TestMatches computes the matches of each node of four clusters. Of two that match by rank exactly one
// returns the other, and no node returns its own site. With a source in A its members return no node, and all match them.
func TestMatches(t *testing.T) {
	for _, near := range [][]string{nil, {"A"}} {
		t.Run(fmt.Sprint(near), func(t *testing.T) { testMatches(t, near) })
	}
}

func testMatches(t *testing.T, near []string) {
	var all []proto.Member
	for _, cluster := range []string{"A", "B", "C/r1", "C/r2"} {
		for i := range 3 {
			all = append(all, proto.Member{ID: proto.PeerID(fmt.Sprintf("%d%s", (i*7+len(all))%10, cluster)), Cluster: cluster})
		}
	}
	met := map[[2]proto.PeerID]int{}
	for k, self := range all {
		if slices.Contains(near, self.Cluster) {
			continue
		}
		others := slices.Delete(slices.Clone(all), k, k+1)
		for _, m := range matches(self.ID, self.Cluster, others, near) {
			if proto.SharedParts(m.Cluster, self.Cluster) > 0 {
				t.Errorf("%s matches %s, of the same site", self.ID, m.ID)
			}
			met[[2]proto.PeerID{min(self.ID, m.ID), max(self.ID, m.ID)}]++
		}
	}
	// A and B have 3 nodes each, C has 6: 3 pairs, and 6 from each of A and B to C.
	if len(met) != 15 {
		t.Errorf("%d pairs meet, want 15: %v", len(met), met)
	}
	for pair, n := range met {
		if n != 1 {
			t.Errorf("%v meet %d times", pair, n)
		}
	}
}
