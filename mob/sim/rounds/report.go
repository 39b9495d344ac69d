package rounds

import "math/bits"

// Report is what a run came to.
type Report struct {
	// Finished are the rounds after which the nodes had everything, 0 for the
	// source and for those that have not; Missing counts these without the source
	// and the dead.
	Finished []int
	Missing  int
	// Batches are the rounds after which the last node had each batch.
	Batches []int
	// Sent counts the blocks, Useless those of them that gave the receiver nothing.
	Sent, Useless int
}

// Rounds is the round after which the last node had everything.
func (r *Report) Rounds() int {
	last := 0
	for _, f := range r.Finished {
		last = max(last, f)
	}
	return last
}

// Limit is what the paper measures broadcasts of so many blocks to so many nodes
// by: k + ceil(log2 n) rounds. No broadcast ends more than one round before it: the
// last block leaves the source in round k, and those that have it at most double.
func Limit(blocks, nodes int) int { return blocks + bits.Len(uint(nodes-1)) }

// missing counts those that live and have not everything.
func (s *sim) missing() int {
	n := 0
	for i, f := range s.report.Finished {
		if i > 0 && f == 0 && s.nodes[i].alive {
			n++
		}
	}
	return n
}
