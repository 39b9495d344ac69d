package permutation

import (
	"math/bits"

	"github.com/mobgrid/mob/proto"
)

// None is no generation.
const None = -1

// slack is C of Overlap-2: for how many rounds beside its number of blocks a generation
// has the cluster to itself.
const slack = 1

// Schedule says in which order generations, the paper's batches, go round. At most two are
// in transit at any time: the oldest that some node lacks, and the next.
//
//   - [proto.Sequential] and [proto.RandomBlock] begin a generation when all nodes have
//     the one before.
//   - [proto.Overlap1] sends the next one to those that have the oldest (algorithm 1).
//   - [proto.Overlap2] gives a generation g the cluster to itself for about as many rounds
//     as it has blocks. For log2 n rounds after that the next one goes first: few nodes
//     have any of it, so its blocks multiply while all others finish g. Then g goes first
//     again (algorithm 2).
type Schedule struct {
	strategy proto.Strategy
	alone    []int // by generation: the last round in which no later one is sent, for Overlap2
	boost    int   // for how many rounds from then on the next one goes first
}

// NewSchedule plans generations of the given numbers of blocks for a number of nodes. With
// Overlap2 a generation g is alone until round k1+C+log2(n) + k2+C+log2(n) + ... + kg+C.
func NewSchedule(s proto.Strategy, blocks []int, nodes int) *Schedule {
	c := &Schedule{strategy: s, boost: bits.Len(uint(max(nodes, 1) - 1))}
	end := 0
	for _, k := range blocks {
		c.alone = append(c.alone, end+k+slack)
		end += k + slack + c.boost
	}
	return c
}

// At returns the generation to send in a round, and the one to send to nodes that need no
// more of it, where oldest is the first that some node lacks. Either may be [None].
func (c *Schedule) At(oldest, round int) (first, second int) {
	if oldest >= len(c.alone) {
		return None, None
	}
	next := oldest + 1
	if next == len(c.alone) || c.strategy == proto.Sequential || c.strategy == proto.RandomBlock {
		return oldest, None
	}
	if alone := c.alone[oldest]; c.strategy == proto.Overlap2 && round <= alone+c.boost {
		if round <= alone {
			return oldest, None
		}
		return next, oldest
	}
	return oldest, next
}
