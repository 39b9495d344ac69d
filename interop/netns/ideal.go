package netns

import "time"

// IdealTime is the least time in which size bytes can get from the source's cluster to all others while the rates change: every
// cut between the source and some other cluster must have let size bytes pass, so it is the time of the slowest cut. Forever
// when a cluster cannot be reached, zero when there is no other. It tries all cuts, 2^(n-1) for n clusters.
func IdealTime(s Scenario, source string, size int64) time.Duration {
	first, _ := s.Rates(0)
	left := make([]cut, 0)
	for _, c := range cuts(first.Clusters(), source, float64(size)) {
		if c.capacity(first) == 0 {
			return Forever
		}
		left = append(left, c)
	}
	var now, last time.Duration
	for len(left) > 0 {
		links, until := s.Rates(now)
		still := left[:0]
		for _, c := range left {
			r := c.capacity(links)
			if need := r.Time(c.bytes); need <= until-now {
				last = max(last, now+need)
				continue
			}
			c.bytes -= r.in(until - now)
			still = append(still, c)
		}
		if until == Forever && len(still) > 0 {
			return Forever
		}
		left, now = still, until
	}
	return last
}

// cut divides the clusters in two sides. bytes is what has yet to pass.
type cut struct {
	near  map[string]bool
	far   map[string]bool
	bytes float64
}

// cuts lists all ways to divide the clusters with the source on the near side and at least one on the far side.
func cuts(clusters []string, source string, bytes float64) []cut {
	var others []string
	for _, c := range clusters {
		if c != source {
			others = append(others, c)
		}
	}
	var all []cut
	for far := 1; far < 1<<len(others); far++ {
		c := cut{near: map[string]bool{source: true}, far: make(map[string]bool), bytes: bytes}
		for i, name := range others {
			if far&(1<<i) != 0 {
				c.far[name] = true
			} else {
				c.near[name] = true
			}
		}
		all = append(all, c)
	}
	return all
}

// capacity is the sum of the links from the near to the far side, added in a fixed order so that it is the same each time.
func (c cut) capacity(l Links) Rate {
	var sum Rate
	for _, p := range l.pairs() {
		if c.near[p.a] && c.far[p.b] || c.near[p.b] && c.far[p.a] {
			sum += l.rates[p]
		}
	}
	return sum
}
