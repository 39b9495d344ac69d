package plan

import (
	"math"
	"slices"
)

// Cut is a least cut between the source and a host: nothing can get to the host faster than
// through the limits that are cut.
type Cut struct {
	// Rate is in bytes per second, and +Inf if nothing limits it.
	Rate float64
	// Limits are the names of links, one way, and of interfaces, which the cut goes through.
	Limits []string
}

// Cuts returns, for each host of the topology, a least cut between a source and it. The
// source has the zero Cut.
func (n *Network) Cuts(source string) ([]Cut, error) {
	from, err := n.host(source)
	if err != nil {
		return nil, err
	}
	return n.cuts(from), nil
}

func (n *Network) cuts(from int) []Cut {
	g := n.flowGraph(from)
	cuts, known := make([]Cut, len(n.hosts)), make(map[int32]Cut)
	for h := range n.hosts {
		if h == from {
			continue
		}
		end := int32(h)
		if n.access[h] >= 0 {
			end = n.origin[h]
		}
		c, ok := known[end]
		if !ok {
			c = n.cut(g, end)
			known[end] = c
		}
		if n.access[h] >= 0 { // then only its link and its interface are left
			for _, l := range []int32{n.access[h] ^ 1, n.receive[h]} {
				if l >= 0 && n.limits[l].rate < c.Rate {
					c = Cut{n.limits[l].rate, []string{n.limitName(l)}}
				}
			}
		}
		cuts[h] = c
	}
	return cuts
}

func (n *Network) cut(g *flowGraph, end int32) Cut {
	rate, near := g.maxFlow(g.at[end])
	c := Cut{Rate: rate}
	for i := 0; near != nil && i < len(g.arcs); i += 2 {
		if near[g.arcs[i^1].to] && !near[g.arcs[i].to] {
			c.Limits = append(c.Limits, n.limitName(g.arcs[i].limit))
		}
	}
	return c
}

// flowGraph has the nodes that can forward flows from a source: switches, and hosts that relay. Hosts
// with one link are left out.
type flowGraph struct {
	source           int32
	enter, at, leave map[int32]int32 // of each node of the network: where flows enter, end, and leave
	arcs             []arc           // the reverse of an even number follows it
	out              [][]int32
}

// arc is a way for a flow, with its number among the limits of the network, or -1.
type arc struct {
	to, limit  int32
	rate, room float64
}

func (n *Network) flowGraph(source int) *flowGraph {
	g := &flowGraph{enter: make(map[int32]int32), at: make(map[int32]int32), leave: make(map[int32]int32)}
	node := func() int32 {
		g.out = append(g.out, nil)
		return int32(len(g.out) - 1)
	}
	for i := range n.names {
		v := int32(i)
		if n.isHost(v) && n.access[i] >= 0 && i != source {
			continue
		}
		g.at[v] = node()
		g.enter[v], g.leave[v] = g.at[v], g.at[v]
		if n.isHost(v) {
			g.enter[v], g.leave[v] = node(), node()
			g.join(n, g.enter[v], g.at[v], n.receive[i])
			g.join(n, g.at[v], g.leave[v], n.send[i])
		}
	}
	for i, l := range n.limits {
		if l.from < 0 || l.to < 0 {
			continue
		}
		a, from := g.leave[l.from]
		b, to := g.enter[l.to]
		if from && to {
			g.join(n, a, b, int32(i))
		}
	}
	g.source = g.at[int32(source)]
	return g
}

func (g *flowGraph) join(n *Network, a, b, limit int32) {
	rate := math.Inf(1)
	if limit >= 0 {
		rate = n.limits[limit].rate
	}
	g.addArc(a, b, limit, rate)
}

func (g *flowGraph) addArc(a, b, limit int32, rate float64) {
	g.out[a] = append(g.out[a], int32(len(g.arcs)))
	g.out[b] = append(g.out[b], int32(len(g.arcs)+1))
	g.arcs = append(g.arcs, arc{to: b, limit: limit, rate: rate}, arc{to: a, limit: -1})
}

// maxFlow returns the greatest flow from the source to a node, and the near side of a least cut
// between them, nil if nothing limits the flow. It is the algorithm of Edmonds and Karp: it augments along
// shortest paths until there is none.
func (g *flowGraph) maxFlow(to int32) (rate float64, near []bool) {
	for i := range g.arcs {
		g.arcs[i].room = g.arcs[i].rate
	}
	for {
		back := g.search(to)
		if back[to] == -1 {
			near = make([]bool, len(back))
			for v := range back {
				near[v] = back[v] != -1
			}
			return rate, near
		}
		step := math.Inf(1)
		for v := to; v != g.source; v = g.arcs[back[v]^1].to {
			step = min(step, g.arcs[back[v]].room)
		}
		if math.IsInf(step, 1) {
			return step, nil
		}
		for v := to; v != g.source; v = g.arcs[back[v]^1].to {
			a, r := &g.arcs[back[v]], &g.arcs[back[v]^1]
			a.room = rest(a.room, step, max(a.rate, r.rate))
			r.room += step
		}
		rate += step
	}
}

// search looks for the shortest path with room from the source, breadth first. It returns the
// last arc of the path to each node: -1 for none, and -2 for the source.
func (g *flowGraph) search(to int32) []int32 {
	back := slices.Repeat([]int32{-1}, len(g.out))
	back[g.source] = -2
	for queue := []int32{g.source}; len(queue) > 0 && back[to] == -1; queue = queue[1:] {
		for _, i := range g.out[queue[0]] {
			if a := &g.arcs[i]; a.room > 0 && back[a.to] == -1 {
				back[a.to] = i
				queue = append(queue, a.to)
			}
		}
	}
	return back
}

// rest returns what is left of a rate, without what is left of it by rounding only.
func rest(room, used, rate float64) float64 {
	const rounding = 1e-6 // rates may be integers
	if math.IsInf(room, 1) {
		return room
	}
	if room -= used; room <= rounding*rate {
		return 0
	}
	return room
}
