package plan

import (
	"math"
	"time"
)

// Never is a time that does not come.
const Never = time.Duration(math.MaxInt64)

// Carried returns how many bytes the link from one node to another can carry between the start
// and a time: +Inf if nothing limits it, and 0 if there is no link. It does not fall with time.
type Carried func(from, to int, until time.Duration) float64

// Bound returns the least time in which a number of bytes can reach all nodes, which are numbered
// from the source, 0, and represent clusters. With constant rates it is the time of the least of the
// greatest flows to each node, and some broadcast is as fast (Edmonds, Edge-disjoint
// branchings, 1973). With changing rates no broadcast need reach the bound, since nothing can be
// forwarded before it has arrived. Bound is 0 without bytes or receivers,
// and Never if a node cannot be reached.
//
// It starts from a time that is too early, finds a cut that cannot have carried the bytes by
// then, and continues from the time at which that cut can, until there is no such cut.
func Bound(nodes int, bytes float64, carried Carried) time.Duration {
	t := time.Duration(0)
	var g *flowGraph // of the links at t
	for to := 1; to < nodes; to++ {
		for {
			if g == nil {
				g = &flowGraph{out: make([][]int32, nodes)}
				for a := range nodes {
					for b := range nodes {
						if a != b {
							g.addArc(int32(a), int32(b), -1, carried(a, b, t))
						}
					}
				}
			}
			flow, near := g.maxFlow(int32(to))
			if flow >= bytes {
				break
			}
			passed := timeOf(near, bytes, t, carried)
			if passed == Never {
				return Never
			}
			if passed == t { // except for rounding
				break
			}
			t, g = passed, nil
		}
	}
	return t
}

// timeOf returns when the links out of the near nodes can have carried the bytes. early is a
// time at which they cannot.
func timeOf(near []bool, bytes float64, early time.Duration, carried Carried) time.Duration {
	enough := func(t time.Duration) bool {
		sum := 0.0
		for a := range near {
			for b := range near {
				if near[a] && !near[b] {
					sum += carried(a, b, t)
				}
			}
		}
		return sum >= bytes
	}
	if enough(early) {
		return early
	}
	late := max(early, time.Millisecond)
	for !enough(late) {
		if late > Never/2 {
			return Never
		}
		early, late = late, 2*late
	}
	for late-early > 1 {
		if t := early + (late-early)/2; enough(t) {
			late = t
		} else {
			early = t
		}
	}
	return late
}
