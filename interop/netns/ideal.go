package netns

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/plan"
)

// IdealTime is the least time in which size bytes can reach all clusters from the first rack of the first one, by
// [plan.BoundOfRacks]. Bytes are bytes on links and uplinks, headers included. It is Forever if a cluster cannot be
// reached, and zero if there is no other.
func IdealTime(s Scenario, clusters []Cluster, size int64) time.Duration {
	var racks []plan.Rack
	for i, c := range clusters {
		uplink := Rate(0)
		if len(c.Racks) > 0 {
			uplink = c.Uplink
		}
		racks = append(racks, slices.Repeat([]plan.Rack{{Site: i, Uplink: float64(uplink)}}, max(1, len(c.Racks)))...)
	}
	first, _ := s(0)
	type step struct {
		links Links
		until time.Duration
	}
	var steps []step // as far as they were asked for
	var known time.Duration
	return plan.BoundOfRacks(racks, float64(size), func(a, b int, until time.Duration) (sum float64) {
		from, to := clusters[a].Name, clusters[b].Name
		if first.Rate(from, to) == 0 {
			return 0 // links do not appear
		}
		for known < until {
			links, end := s(known)
			steps, known = append(steps, step{links, end}), end
		}
		now := time.Duration(0)
		for _, st := range steps {
			if now >= until {
				break
			}
			sum += st.links.Rate(from, to).in(min(until, st.until) - now)
			now = st.until
		}
		return sum
	})
}
