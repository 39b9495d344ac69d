package permutation

import "math/bits"

// Order is how one batch follows another. At any time at most two are on their
// way: the oldest that somebody lacks, and the next.
type Order int

const (
	// Sequential begins a batch when all nodes have the one before.
	Sequential Order = iota
	// Overlap1 sends the next batch to those that have the oldest (algorithm 1).
	Overlap1
	// Overlap2 gives a batch b the cluster for itself for about as many rounds as
	// it has blocks. For log2 n rounds after that the next batch goes first: few
	// nodes have any of it, so they multiply, while all others finish b. Then b
	// goes first again (algorithm 2).
	Overlap2
)

// none is no batch.
const none = -1

// choice is the batches that a node may send, and which it prefers.
type choice struct{ first, second int }

// calendar says for the rounds of Overlap2 which batch goes first.
type calendar struct {
	alone []int // by batch: the last round in which no later one is sent
	boost int   // for how many rounds from then on the next one goes first
}

// newCalendar plans the batches of the given numbers of blocks, for n nodes. A
// batch b is alone until round k1+C+log2(n) + k2+C+log2(n) + ... + kb+C.
func newCalendar(batches []int, n int) calendar {
	c := calendar{boost: bits.Len(uint(max(n, 1) - 1))}
	end := 0
	for _, k := range batches {
		c.alone = append(c.alone, end+k+slack)
		end += k + slack + c.boost
	}
	return c
}

// choose is what to send in a round, where oldest is the first batch that somebody
// lacks.
func (o Order) choose(c *calendar, oldest, round int) choice {
	if oldest >= len(c.alone) {
		return choice{none, none}
	}
	next := oldest + 1
	if next == len(c.alone) || o == Sequential {
		return choice{oldest, none}
	}
	if o == Overlap2 {
		switch alone := c.alone[oldest]; {
		case round <= alone:
			return choice{oldest, none}
		case round <= alone+c.boost:
			return choice{next, oldest}
		}
	}
	return choice{oldest, next}
}
