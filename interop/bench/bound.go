package bench

import (
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// Ideal is a lower bound of the time in which all receivers but the slow ones can have
// their copy, by the rates of links, uplinks of racks, and NICs. It ignores headers, acknowledgements and
// round trips. It is zero if nothing is limited.
func (c *Case) Ideal() time.Duration {
	return max(netns.IdealTime(c.Scenario, c.Clusters, c.Size), c.idealOfNICs())
}

// idealOfNICs is the time of the slowest NICs that the whole content must pass: the
// source's, a receiver's, or with dual NICs the sum of a cluster's NICs to the WAN.
func (c *Case) idealOfNICs() time.Duration {
	var slowest time.Duration
	for i, cl := range c.Clusters {
		dual := cl.WANNIC > 0 && !c.single()
		if dual {
			slowest = max(slowest, (cl.WANNIC * netns.Rate(cl.Nodes)).Time(float64(c.Size)))
		}
		onlySlow := len(cl.SlowNIC) == cl.Nodes
		if cl.NIC == 0 || onlySlow && i > 0 {
			continue
		}
		r := cl.NIC
		if dual {
			r += cl.WANNIC
		}
		slowest = max(slowest, r.Time(float64(c.Size)))
	}
	return slowest
}

// Limit is the time when a run is given up: after twenty times the ideal time and two minutes, and
// not before slow nodes had twice the time that they need.
func (c *Case) Limit() time.Duration {
	limit := 20*c.Ideal() + 2*time.Minute
	for _, cl := range c.Clusters {
		for _, r := range cl.SlowNIC {
			limit = max(limit, 2*r.Time(float64(c.Size)))
		}
	}
	return limit
}
