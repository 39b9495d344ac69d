package netns

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/plan"
)

// IdealTime is the least time in which size bytes can reach all clusters from the source's, by
// [plan.Bound]. Bytes are bytes on links, headers included. It is Forever if a cluster cannot be
// reached, and zero if there is no other.
func IdealTime(s Scenario, source string, size int64) time.Duration {
	first, _ := s.Rates(0)
	others := slices.DeleteFunc(first.Clusters(), func(c string) bool { return c == source })
	names := append([]string{source}, others...)
	return plan.Bound(len(names), float64(size), carriedBetween(s, names))
}

// IdealTimeOfRacks is [IdealTime] with the uplinks of racks too, for a source in the first rack of
// the first cluster.
func IdealTimeOfRacks(s Scenario, clusters []Cluster, size int64) time.Duration {
	var racks []plan.Rack
	var names []string
	for i, c := range clusters {
		names = append(names, c.Name)
		for range max(1, len(c.Racks)) {
			rack := plan.Rack{Site: i}
			if len(c.Racks) > 0 {
				rack.Uplink = float64(c.Uplink)
			}
			racks = append(racks, rack)
		}
	}
	return plan.BoundOfRacks(racks, float64(size), carriedBetween(s, names))
}

// carriedBetween is the number of bytes that links between clusters can carry over time.
func carriedBetween(s Scenario, names []string) plan.Carried {
	first, _ := s.Rates(0)
	p := past{of: s}
	return func(a, b int, until time.Duration) float64 {
		if first.Rate(names[a], names[b]) == 0 {
			return 0 // links do not appear
		}
		return p.carried(names[a], names[b], until)
	}
}

// past is the links of a scenario over time, as far as carried was called for.
type past struct {
	of    Scenario
	steps []step
	end   time.Duration // of the last step
}

// step is links that hold until a time.
type step struct {
	links Links
	until time.Duration
}

// carried is the number of bytes that the link between two clusters can carry until a time.
func (p *past) carried(a, b string, until time.Duration) float64 {
	for p.end < until {
		links, end := p.of.Rates(p.end)
		p.steps = append(p.steps, step{links, end})
		p.end = end
	}
	sum, from := 0.0, time.Duration(0)
	for _, s := range p.steps {
		sum += s.links.Rate(a, b).in(min(until, s.until) - from)
		from = s.until
		if from >= until {
			break
		}
	}
	return sum
}
