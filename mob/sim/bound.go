package sim

import (
	"math"
	"time"

	"github.com/mobgrid/mob/mob/plan"
)

// ideal is Edmonds' bound for changing links.
func (l Links) ideal(clusters []string, length int64) time.Duration {
	return plan.Bound(len(clusters), float64(length), func(a, b int, until time.Duration) float64 {
		return l[Link{clusters[a], clusters[b]}].carried(until)
	})
}

// Ideal is the least time that any broadcast needs: by the links (Edmonds), and
// by the interfaces of the source and of every receiver.
func (c *Config) Ideal() time.Duration {
	names := make([]string, len(c.Clusters))
	for i, k := range c.Clusters {
		names[i] = k.Name
	}
	t := c.Links.ideal(names, c.Length)
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
	return max(t, time.Duration(float64(c.Length)/slowest*1e9))
}
