package plan

import (
	"fmt"
	"math"
	"slices"
)

// findRoutes makes the tables of routes. A host with one link, to a switch, has the same routes
// as the switch, except for that link.
func (n *Network) findRoutes() error {
	for h := range n.hosts {
		origin, access := int32(h), int32(-1)
		if out := n.out[h]; len(out) == 1 && !n.isHost(n.limits[out[0]].to) {
			origin, access = n.limits[out[0]].to, out[0]
		}
		n.origin, n.access = append(n.origin, origin), append(n.access, access)
		n.last[origin] = nil
	}
	if len(n.last)*len(n.names) > maxRoutes {
		return fmt.Errorf("the topology is too large: its %d hosts have too many switches or links", len(n.hosts))
	}
	for origin := range n.last {
		n.last[origin], n.far[origin] = n.search(origin)
	}
	return nil
}

// search finds the routes from a node to all other nodes, breadth first. It returns the last link on
// each, and how many links it has.
func (n *Network) search(origin int32) (last, far []int32) {
	last, far = slices.Repeat([]int32{-1}, len(n.names)), make([]int32, len(n.names))
	width := make([]float64, len(n.names))
	width[origin] = math.Inf(1)
	for queue := []int32{origin}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if n.isHost(at) && at != origin {
			continue
		}
		for _, l := range n.out[at] {
			to, w := n.limits[l].to, min(width[at], n.limits[l].rate)
			switch {
			case to == origin:
			case last[to] < 0:
				queue = append(queue, to)
				fallthrough
			case far[to] == far[at]+1 && w > width[to]:
				last[to], width[to], far[to] = l, w, far[at]+1
			}
		}
	}
	return last, far
}

// route appends the limits on the way from one host to another, and says whether there is a way.
// What limits nothing is left out.
func (n *Network) route(from, to int32, limits []int32) ([]int32, bool) {
	add := func(l int32) {
		if l >= 0 && !math.IsInf(n.limits[l].rate, 1) {
			limits = append(limits, l)
		}
	}
	add(n.send[from])
	add(n.access[from])
	origin := n.origin[from]
	for last := n.last[origin]; to != origin; {
		l := last[to]
		if l < 0 {
			return limits, false
		}
		if n.isHost(to) {
			add(n.receive[to])
		}
		add(l)
		to = n.limits[l].from
	}
	return limits, true
}
