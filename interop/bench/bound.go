package bench

import (
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// Ideal is the least time in which every receiver that is waited for can have its
// copy, by the links and by the NICs. Acknowledgements, headers and round trips
// are not in it.
func (c *Case) Ideal() time.Duration { return max(c.idealOfLinks(), c.idealOfNICs()) }

// allCuts is up to how many clusters all cuts are tried, 2^(n-1) of them.
const allCuts = 12

// idealOfLinks is by Edmonds: the slowest cut's time. With links that change in
// many clusters it tries the cuts around one cluster only, so it may be less than
// the true one, never more.
func (c *Case) idealOfLinks() time.Duration {
	if len(c.Clusters) == 1 {
		return 0
	}
	source := c.Clusters[0].Name
	links, until := c.Scenario.Rates(0)
	if until == netns.Forever {
		return netns.Bound(links, source).Time(float64(c.Size))
	}
	if len(c.Clusters) <= allCuts {
		return netns.IdealTime(c.Scenario, source, c.Size)
	}
	var worst time.Duration
	for _, name := range c.Names() {
		worst = max(worst, netns.IdealTime(around{c.Scenario, name, c.Names()}, "out", c.Size))
	}
	return worst
}

// around is a scenario of two clusters: one of another scenario, and all the rest
// as one.
type around struct {
	of   netns.Scenario
	name string
	all  []string
}

// Rates implements netns.Scenario.
func (a around) Rates(t time.Duration) (netns.Links, time.Duration) {
	links, until := a.of.Rates(t)
	var sum netns.Rate
	for _, other := range a.all {
		sum += links.Rate(a.name, other)
	}
	return netns.Uniform(sum, "in", "out"), until
}

// idealOfNICs is the time of the slowest NIC that all must pass through: the
// source's, a receiver's, or with two interfaces per node those of a cluster to
// the WAN together. Slow nodes are waited for by nobody.
func (c *Case) idealOfNICs() time.Duration {
	var worst time.Duration
	for i, cl := range c.Clusters {
		wan := cl.WANNIC > 0 && len(c.Clusters) > 1
		if wan {
			worst = max(worst, (cl.WANNIC * netns.Rate(cl.Nodes)).Time(float64(c.Size)))
		}
		everySlow := len(cl.SlowNIC) == cl.Nodes
		if cl.NIC == 0 || everySlow && i > 0 {
			continue
		}
		r := cl.NIC
		if wan {
			r += cl.WANNIC
		}
		worst = max(worst, r.Time(float64(c.Size)))
	}
	return worst
}
