package sim

import (
	"math"
	"time"

	"github.com/mobgrid/mob/mob/plan"
)

// Link is one direction between two clusters.
type Link struct{ From, To string }

// Links are the rates of the WAN.
type Links map[Link]Rate

// Ideal is the least time that any broadcast needs: by the links (Edmonds' bound), and by
// the NICs of the source and of every receiver.
func (c *Config) Ideal() time.Duration {
	slowest := math.Inf(1)
	nic := c.NIC
	if nic == 0 {
		nic = defaultNIC
	}
	for i := range c.nodes() {
		r := nic
		if s, ok := c.SlowNIC[i]; ok {
			r = s
		}
		slowest = min(slowest, r)
	}
	links := plan.Bound(len(c.Clusters), float64(c.Length), func(a, b int, until time.Duration) float64 {
		return c.Links[Link{c.Clusters[a].Name, c.Clusters[b].Name}].carried(until)
	})
	return max(links, time.Duration(float64(c.Length)/slowest*1e9))
}
