package plan

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/mobgrid/mob/proto"
)

// flat has the source send to all hosts.
func flat(j *job) ([]Tree, error) {
	parents := make([]int, len(j.at))
	parents[0] = -1
	return j.one(parents)
}

// dijkstra adds the host that can be reached in the highest rate from those that it has, until it
// has all (Wang et al., 2006). It does not see that links are shared. Of hosts that reach another
// in the same rate it takes the nearest, and of these the one that came last.
func dijkstra(j *job) ([]Tree, error) {
	type reach struct {
		parent, links int
		rate          float64
	}
	compare := func(a, b reach) int { return cmp.Or(cmp.Compare(a.rate, b.rate), b.links-a.links) }
	best := slices.Repeat([]reach{{parent: -1}}, len(j.at))
	parents := slices.Repeat([]int{-1}, len(j.at))
	done := make([]bool, len(j.at))
	for at := 0; ; {
		done[at] = true
		next := -1
		for h := range best {
			if done[h] {
				continue
			}
			if limits, ok := j.way(at, h); ok {
				r := reach{at, j.distance(at, h), math.Inf(1)}
				for _, l := range limits {
					r.rate = min(r.rate, j.limits[l].rate)
				}
				if best[h].parent < 0 || compare(r, best[h]) >= 0 {
					best[h] = r
				}
			}
			if best[h].parent >= 0 && (next < 0 || compare(best[h], best[next]) > 0) {
				next = h
			}
		}
		if next < 0 {
			return j.one(parents)
		}
		parents[next] = best[next].parent
		at = next
	}
}

// distance returns the number of links between two hosts that there is a way between.
func (j *job) distance(from, to int) int {
	return int(j.far[j.origin[j.at[from]]][j.at[to]])
}

// random is the best of 100 pipelines through all hosts in random order, the one in which the
// sum of all rates is highest.
func random(j *job) ([]Tree, error) {
	const pipelines = 100
	rng := j.rng()
	order := j.order()
	var best []int
	most := -1.0
	for range pipelines {
		rng.Shuffle(len(order)-1, func(a, b int) { order[a+1], order[b+1] = order[b+1], order[a+1] })
		parents := pipeline(order)
		rates, err := j.fair(parents)
		if err != nil {
			return nil, err
		}
		sum := 0.0
		for _, r := range rates {
			sum += r
		}
		if sum > most {
			best, most = parents, sum
		}
	}
	return j.one(best)
}

// chain is a pipeline in the order of clusters, and of names in them with numbers by their size,
// as Kascade and Twister have it. It begins with the rack of the source and then its site, so it
// enters each site once, and each rack.
func chain(j *job) ([]Tree, error) {
	return j.one(pipeline(j.sorted()))
}

// sorted returns the hosts in the order of chain.
func (j *job) sorted() []int {
	own := j.hosts[j.at[0]].Cluster
	order := j.order()
	slices.SortFunc(order[1:], func(a, b int) int {
		x, y := &j.hosts[j.at[a]], &j.hosts[j.at[b]]
		return cmp.Or(
			proto.SharedParts(own, y.Cluster)-proto.SharedParts(own, x.Cluster),
			compareNatural(x.Cluster, y.Cluster),
			compareNatural(x.Name, y.Name))
	})
	return order
}

// order returns the hosts in the order of their numbers.
func (j *job) order() []int {
	order := make([]int, len(j.at))
	for h := range order {
		order[h] = h
	}
	return order
}

// pipeline returns the parents in a chain of hosts.
func pipeline(order []int) []int {
	parents := make([]int, len(order))
	last := -1
	for _, h := range order {
		parents[h], last = last, h
	}
	return parents
}

// compareNatural compares names, with the numbers in them by their size: n2 is before n10.
func compareNatural(a, b string) int {
	whole := cmp.Compare(a, b)
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x > 0 && y > 0 {
			p, q := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
			if c := cmp.Or(len(p)-len(q), cmp.Compare(p, q)); c != 0 {
				return c
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Or(len(a)-len(b), whole)
}

// digits counts the leading digits of a text.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
