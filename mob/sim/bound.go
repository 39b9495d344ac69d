package sim

import (
	"math"
	"slices"
	"time"
)

// ideal is Edmonds' bound for changing links: no broadcast from the first
// cluster is faster than the slowest cut between it and another cluster, its
// capacity integrated over time. There are 2^(n-1) cuts; beyond 16 clusters it
// takes the cuts around one cluster only.
func (l Links) ideal(clusters []string, length int64) time.Duration {
	rest := clusters[1:]
	worst := time.Duration(0)
	if len(rest) > 15 {
		for i := range rest {
			worst = max(worst, l.cut(clusters, func(c int) bool { return c != i+1 }, length))
		}
		return worst
	}
	for mask := range 1<<len(rest) - 1 {
		near := func(c int) bool { return c == 0 || mask>>(c-1)&1 == 1 }
		worst = max(worst, l.cut(clusters, near, length))
	}
	return worst
}

// cut is how long length bytes take from the near clusters to the others.
func (l Links) cut(clusters []string, near func(c int) bool, length int64) time.Duration {
	var rates []Rate
	times := []time.Duration{0}
	for i, a := range clusters {
		for j, b := range clusters {
			if !near(i) || near(j) {
				continue
			}
			r := l[Link{a, b}]
			if len(r) == 0 {
				return 0
			}
			rates = append(rates, r)
			for _, s := range r {
				times = append(times, s.From)
			}
		}
	}
	slices.Sort(times)
	times = slices.Compact(times)
	sum := make(Rate, len(times))
	at := make([]int, len(rates))
	for k, t := range times {
		sum[k].From = t
		for i, r := range rates {
			for at[i]+1 < len(r) && r[at[i]+1].From <= t {
				at[i]++
			}
			sum[k].BytesPerSec += r[at[i]].BytesPerSec
		}
	}
	return sum.after(0, float64(length))
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
