package rounds

import (
	"errors"
	"fmt"

	"github.com/mobgrid/mob/mob/permutation"
	"github.com/mobgrid/mob/mob/rlnc"
)

// Config is one simulated broadcast.
type Config struct {
	// Nodes is how many there are; the first is the source.
	Nodes int
	// Batches are the numbers of blocks of the batches.
	Batches []int
	// Order and Uncoded are what to do (see package permutation).
	Order   permutation.Order
	Uncoded bool
	// Slow are nodes for which a block takes so many rounds, to them and from them.
	Slow map[int]int
	// Jitter is by how many percent of a round the time of a block varies, at most.
	// Nodes are then not in step any more; a round is the time of a block on average.
	Jitter int
	// Window has nodes send without offers (see [permutation.Config]). Blocks queue where
	// their receiver is busy.
	Window int
	// Delay is how many percent of a round a word is on its way, with a Window.
	Delay int
	// Deaths are nodes that end after so many rounds. Their peers learn of it.
	Deaths map[int]int
	// Limit ends the run; 0 is ten times as many rounds as there are blocks and
	// nodes.
	Limit int
	// Seed makes every random choice.
	Seed uint64
}

func (c *Config) validate() error {
	if c.Nodes < 2 {
		return errors.New("rounds: want at least two nodes")
	}
	if err := c.CheckBatches(); err != nil {
		return err
	}
	for n, r := range c.Slow {
		if n < 0 || n >= c.Nodes || r < 1 {
			return fmt.Errorf("rounds: node %d with %d rounds for a block", n, r)
		}
	}
	if c.Jitter < 0 || c.Jitter > 90 {
		return fmt.Errorf("rounds: a jitter of %d percent", c.Jitter)
	}
	if c.Window < 0 || c.Delay < 0 || c.Delay > 0 && c.Window == 0 {
		return fmt.Errorf("rounds: a window of %d, and words that take %d percent", c.Window, c.Delay)
	}
	for n := range c.Deaths {
		if n < 0 || n >= c.Nodes {
			return fmt.Errorf("rounds: no node %d to die", n)
		}
	}
	return nil
}

// CheckBatches reports why the batches cannot be sent.
func (c *Config) CheckBatches() error {
	if len(c.Batches) == 0 {
		return errors.New("rounds: want at least one batch")
	}
	for _, k := range c.Batches {
		if k < 1 || (k > rlnc.MaxK && !c.Uncoded) {
			return fmt.Errorf("rounds: a batch of %d blocks: want 1 to %d to combine", k, rlnc.MaxK)
		}
	}
	return nil
}

// blocks is the number of blocks of all batches.
func (c *Config) blocks() int {
	sum := 0
	for _, k := range c.Batches {
		sum += k
	}
	return sum
}
