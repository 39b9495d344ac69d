package plan

import "math"

// leastCut returns the near side of a least cut between the source and another node, and nil
// if at least that many bytes can flow. It is the algorithm of Edmonds and Karp: it augments
// along shortest paths until there is none.
func leastCut(nodes, to int, bytes float64, capacity func(a, b int) float64) []bool {
	room := make([][]float64, nodes)
	for a := range room {
		room[a] = make([]float64, nodes)
		for b := range room[a] {
			if a != b {
				room[a][b] = capacity(a, b)
			}
		}
	}
	for flow := 0.0; flow < bytes; {
		back := search(room, to)
		if back[to] < 0 {
			near := make([]bool, nodes)
			for c := range near {
				near[c] = back[c] >= 0
			}
			return near
		}
		step := math.Inf(1)
		for c := to; c != 0; c = back[c] {
			step = min(step, room[back[c]][c])
		}
		if math.IsInf(step, 1) {
			return nil
		}
		for c := to; c != 0; c = back[c] {
			room[back[c]][c] -= step
			room[c][back[c]] += step
		}
		flow += step
	}
	return nil
}

// search looks for the shortest path with room from the source to a node, breadth first. It
// returns the predecessor of each node it reached, the source for the source itself, and -1 for
// the others.
func search(room [][]float64, to int) []int {
	back := make([]int, len(room))
	for c := range back {
		back[c] = -1
	}
	back[0] = 0
	for queue := []int{0}; len(queue) > 0 && back[to] < 0; queue = queue[1:] {
		for c, r := range room[queue[0]] {
			if back[c] < 0 && r > 0 {
				back[c] = queue[0]
				queue = append(queue, c)
			}
		}
	}
	return back
}
