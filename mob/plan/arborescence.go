package plan

import (
	"math"
	"slices"
)

// arborescence returns the parents of the cheapest tree from node 0 to all other nodes. cost has the
// finite cost from each node to each other. It is the algorithm of Chu and Liu and of Edmonds
// (Optimum branchings, 1967): every node takes its cheapest parent; each cycle
// becomes one node, and is broken where the tree enters it.
func arborescence(cost [][]float64) []int {
	n := len(cost)
	parents := make([]int, n)
	parents[0] = -1
	for v := 1; v < n; v++ {
		for u := 1; u < n; u++ {
			if u != v && cost[u][v] < cost[parents[v]][v] {
				parents[v] = u
			}
		}
	}
	part, parts, cycles := contract(parents)
	if !cycles {
		return parents
	}
	small := make([][]float64, parts)
	way := make([][][2]int, parts) // the cheapest edge from each part to each other
	for i := range small {
		small[i] = slices.Repeat([]float64{math.Inf(1)}, parts)
		way[i] = make([][2]int, parts)
	}
	for u, a := range part {
		for v := 1; v < n; v++ {
			b := part[v]
			if a == b {
				continue
			}
			// The edge replaces the edge into v. For a part of one node, the difference is the same
			// for all edges.
			if c := cost[u][v] - cost[parents[v]][v]; c < small[a][b] {
				small[a][b], way[a][b] = c, [2]int{u, v}
			}
		}
	}
	for i := range small { // none into the source, or into itself
		small[i][0], small[i][i] = 0, 0
	}
	for b, a := range arborescence(small) {
		if a >= 0 {
			parents[way[a][b][1]] = way[a][b][0]
		}
	}
	return parents
}

// contract numbers the parts that nodes are in when each cycle is one. Node 0 is part 0.
func contract(parents []int) (part []int, parts int, cycles bool) {
	part = slices.Repeat([]int{-1}, len(parents))
	visited := make([]int, len(parents))
	for v := range parents {
		at := v
		for at >= 0 && visited[at] == 0 {
			visited[at] = v + 1
			at = parents[at]
		}
		if at >= 0 && visited[at] == v+1 {
			cycles = true
			for ; part[at] < 0; at = parents[at] {
				part[at] = len(parents) // for now
			}
		}
	}
	for v := range parents {
		switch {
		case part[v] < 0:
			part[v] = parts
			parts++
		case part[v] == len(parents):
			for at := v; part[at] == len(parents); at = parents[at] {
				part[at] = parts
			}
			parts++
		}
	}
	return part, parts, cycles
}
