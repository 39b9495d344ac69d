// Package edmonds knows how fast a broadcast can be: no faster than the greatest flow
// from the source to each of the others by itself, and so fast it can be (Edmonds,
// Edge-disjoint branchings, 1973). Nodes stand for clusters here, numbered from the
// source, 0. It is arithmetic alone, and safe for concurrent use.
package edmonds

import (
	"math"
	"time"
)

// Never stands for a time that does not come.
const Never = time.Duration(math.MaxInt64)

// Carried is how many bytes the link from one node to another lets pass from the start
// until a time: +Inf when nothing limits it, 0 where there is no link. It does not fall
// with time.
type Carried func(from, to int, until time.Duration) float64

// Time is the least time in which so many bytes can be at all nodes: that of the slowest
// cut between the source and another node, whose links together must have let them pass.
// Where rates change it is a bound that need not be reached, since nothing can be
// forwarded before it has come. It is 0 when there is nothing to send, or nobody to
// send to, and Never when a node cannot be reached.
//
// It begins with a time in which the bytes cannot have come and takes, as long as there
// is such a cut, that in which they pass the least one.
func Time(nodes int, bytes float64, carried Carried) time.Duration {
	t := time.Duration(0)
	for to := 1; to < nodes; to++ {
		for {
			near := leastCut(nodes, to, bytes, func(a, b int) float64 { return carried(a, b, t) })
			if near == nil {
				break
			}
			passed := timeOf(near, bytes, t, carried)
			if passed == Never {
				return Never
			}
			if passed == t { // but for rounding
				break
			}
			t = passed
		}
	}
	return t
}

// timeOf is when the links out of the near nodes have let the bytes pass, not before a
// time in which they have not.
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
