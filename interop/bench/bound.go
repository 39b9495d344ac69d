package bench

import (
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// Ideal is the least time in which every receiver that is waited for can have its
// copy, by the links and by the NICs. Acknowledgements, headers and round trips
// are not in it.
func (c *Case) Ideal() time.Duration { return max(c.idealOfLinks(), c.idealOfNICs()) }

// idealOfLinks is by Edmonds.
func (c *Case) idealOfLinks() time.Duration {
	if len(c.Clusters) == 1 {
		return 0
	}
	return netns.IdealTime(c.Scenario, c.Clusters[0].Name, c.Size)
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
