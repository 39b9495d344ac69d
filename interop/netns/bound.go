package netns

import "math"

// Bound is Edmonds' bound on a broadcast from the source's cluster to all others: the least of the maximal flows to each. It
// counts link bytes. Infinite when there is no other cluster; zero when one of them cannot be reached.
func Bound(l Links, source string) Rate {
	clusters := l.Clusters()
	least := Rate(math.Inf(1))
	for _, c := range clusters {
		if c != source {
			least = min(least, maxFlow(l, clusters, source, c))
		}
	}
	return least
}

// maxFlow is the greatest flow between two clusters by Edmonds and Karp: shortest paths with room, until there is none.
func maxFlow(l Links, clusters []string, from, to string) Rate {
	room := make(map[[2]string]Rate)
	for _, p := range l.pairs() {
		room[[2]string{p.a, p.b}] = l.rates[p]
		room[[2]string{p.b, p.a}] = l.rates[p]
	}
	var flow Rate
	for {
		back := shortestPath(room, clusters, from, to)
		if back == nil {
			return flow
		}
		step := Rate(math.Inf(1))
		for c := to; c != from; c = back[c] {
			step = min(step, room[[2]string{back[c], c}])
		}
		for c := to; c != from; c = back[c] {
			room[[2]string{back[c], c}] -= step
			room[[2]string{c, back[c]}] += step
		}
		flow += step
	}
}

// shortestPath returns, for each cluster on the way, the one before it; nil when there is no way with room.
func shortestPath(room map[[2]string]Rate, clusters []string, from, to string) map[string]string {
	back := map[string]string{from: from}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, c := range clusters {
			if _, seen := back[c]; seen || room[[2]string{queue[0], c}] <= 0 {
				continue
			}
			back[c] = queue[0]
			if c == to {
				return back
			}
			queue = append(queue, c)
		}
	}
	return nil
}
