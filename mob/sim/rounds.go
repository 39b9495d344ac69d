package sim

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/mobgrid/mob/mob/rlnc"
	"github.com/mobgrid/mob/proto"
)

// Rounds is one broadcast by permutation gossip in the model in which the paper analyses
// it (Cooper, section 2): one homogeneous cluster in lockstep. In a round each node sends
// one block and receives one, and what it has received it can send on from the next round
// on. Control messages take no time, so every node knows who is busy and who does not have what;
// one that needs no more blocks, or receives one already, is skipped: its predecessor sends
// to its successor in the next permutation. A node whose turn it is comes before nodes that
// have skipped a successor.
//
// Coded blocks are vectors of coefficients without a payload, so ranks are as with real
// codes. This is a model of the algorithm. The State of package mob/permutation knows only
// received announcements, and runs in a network, with [Run].
type Rounds struct {
	// Nodes is the size of the cluster. The first node is the source.
	Nodes int
	// Strategy is a strategy of permutation gossip, and Blocks has the number of source blocks of
	// each generation.
	Strategy proto.Strategy
	Blocks   []int
	// Limit ends the run after n rounds; 0 is ten times the number of blocks and
	// nodes.
	Limit int
	// Seed makes every random choice.
	Seed uint64
}

// RoundsReport is the outcome of a broadcast in rounds.
type RoundsReport struct {
	// Finished has for each node the round in which it received the last block that it
	// needed, 0 for the source and for nodes that do not have some. Missing counts the latter.
	Finished []int
	Missing  int
	// Generations has for each generation the round in which the last node completed it.
	Generations []int
	// Sent counts the blocks, Useless the ones that told the receiver nothing new.
	Sent, Useless int
}

// Rounds is the round in which the last node was complete.
func (r *RoundsReport) Rounds() int {
	last := 0
	for _, f := range r.Finished {
		last = max(last, f)
	}
	return last
}

// RoundsLimit is the bound that the paper compares a broadcast of k blocks to n nodes
// with: k + ceil(log2 n) rounds. No broadcast ends more than one round before it: the last
// block leaves the source in round k, and the nodes that have it at most double.
func RoundsLimit(blocks, nodes int) int { return blocks + bits.Len(uint(nodes-1)) }

// Check reports what is wrong with the configuration.
func (c *Rounds) Check() error {
	if c.Nodes < 2 {
		return errors.New("rounds: want at least two nodes")
	}
	if !c.Strategy.Gossip() {
		return fmt.Errorf("rounds: strategy %q is not one of permutation gossip", c.Strategy)
	}
	if len(c.Blocks) == 0 {
		return errors.New("rounds: want at least one generation")
	}
	for _, k := range c.Blocks {
		if k < 1 || k > rlnc.MaxK && !c.plain() {
			return fmt.Errorf("rounds: a batch of %d blocks: want 1 to %d to combine", k, rlnc.MaxK)
		}
	}
	return nil
}

// blocks is the number of blocks of all generations.
func (c *Rounds) blocks() int {
	sum := 0
	for _, k := range c.Blocks {
		sum += k
	}
	return sum
}

// plain reports whether blocks are sent as they are.
func (c *Rounds) plain() bool { return c.Strategy == proto.RandomBlock }

// RunRounds simulates a broadcast until every node is complete, or the limit. Not to finish
// is not an error: see the report.
func RunRounds(cfg Rounds) (*RoundsReport, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	s := newLockstep(&cfg)
	limit := cfg.Limit
	if limit == 0 {
		limit = 10 * (cfg.blocks() + cfg.Nodes)
	}
	for s.match(); s.report.Missing > 0 && s.round < limit; s.match() {
		s.round++
		s.endRound()
	}
	return &s.report, nil
}
