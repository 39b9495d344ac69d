package sim

import (
	"math"
	"time"

	"github.com/mobgrid/mob/mob/plan"
)

// Link is one direction between two sites.
type Link struct{ From, To string }

// Links are the rates of the WAN.
type Links map[Link]Rate

// Ideal is the least time that any broadcast needs: by the links and uplinks (Edmonds'
// bound), and by the NICs of the source and of every receiver.
func (c *Config) Ideal() time.Duration {
	slowest := math.Inf(1)
	for i := range c.nodes() {
		slowest = min(slowest, c.nic(i))
	}
	sites, siteOf := c.sites()
	racks := make([]plan.Rack, len(c.Clusters))
	for i, k := range c.Clusters {
		racks[i].Site = siteOf[i]
		if k.rack() {
			racks[i].Uplink = c.Uplink
		}
	}
	links := plan.BoundOfRacks(racks, float64(c.Length), func(a, b int, until time.Duration) float64 {
		return c.Links[Link{sites[a], sites[b]}].carried(until)
	})
	return max(links, time.Duration(float64(c.Length)/slowest*1e9))
}
