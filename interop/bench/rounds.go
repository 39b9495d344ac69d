package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mobgrid/mob/mob/sim"
	"github.com/mobgrid/mob/proto"
)

// roundStrategy is a way to move blocks through one homogeneous cluster.
type roundStrategy struct {
	name string
	// Batched strategies overlap batches or take them in turn, so they need at least two.
	// For the other ones all blocks are one batch.
	batched  bool
	strategy proto.Strategy
}

// roundStrategies are Cooper's.
func roundStrategies() []roundStrategy {
	return []roundStrategy{
		{"permutation", false, proto.Sequential},
		{"sequential", true, proto.Sequential},
		{"overlap1", true, proto.Overlap1},
		{"overlap2", true, proto.Overlap2},
		{"rb", false, proto.RandomBlock},
	}
}

// RoundStrategyNames lists the strategies of NewRoundCase.
func RoundStrategyNames() (names []string) {
	for _, s := range roundStrategies() {
		names = append(names, s.name)
	}
	return names
}

// RoundCase is a strategy in a cluster of some size, and the results of its runs.
type RoundCase struct {
	cfg      sim.Rounds
	Strategy string `json:"strategy"`
	Nodes    int    `json:"nodes"`
	// Limit is k + ceil(log2 n), in rounds.
	Limit int `json:"limit"`
	// Rounds is, for each run, the number of rounds until the last node had everything,
	// in the order of the seeds; Median is their median.
	Rounds []int `json:"rounds"`
	Median int   `json:"median"`
	// Beyond is the mean number of rounds beyond Limit.
	Beyond float64 `json:"beyond_limit"`
	// Useless is the share of blocks that gave their receiver nothing.
	Useless float64 `json:"useless_share"`

	sent, useless int
}

// NewRoundCase makes a case without runs, of batches of n blocks each.
func NewRoundCase(strategy string, nodes, blocks, batches int) (*RoundCase, error) {
	i := slices.Index(RoundStrategyNames(), strategy)
	if i < 0 {
		return nil, fmt.Errorf("unknown strategy %q: use some of %s", strategy, strings.Join(RoundStrategyNames(), ","))
	}
	s := roundStrategies()[i]
	c := &RoundCase{Strategy: strategy, Nodes: nodes, Limit: sim.RoundsLimit(blocks*batches, nodes)}
	c.cfg = sim.Rounds{Nodes: nodes, Strategy: s.strategy, Blocks: []int{blocks * batches}}
	if s.batched {
		if batches < 2 {
			return nil, fmt.Errorf("strategy %s requires at least two batches", strategy)
		}
		c.cfg.Blocks = slices.Repeat([]int{blocks}, batches)
	}
	return c, c.cfg.Check()
}

// Run simulates one broadcast and adds it to the case. The simulator cannot be stopped.
func (c *RoundCase) Run(seed uint64) error {
	cfg := c.cfg
	cfg.Seed = seed
	r, err := sim.RunRounds(cfg)
	if err != nil {
		return err
	}
	c.Rounds = append(c.Rounds, r.Rounds())
	c.Median = c.sorted()[(len(c.Rounds)-1)/2]
	sum := 0
	for _, n := range c.Rounds {
		sum += n
	}
	c.Beyond = float64(sum)/float64(len(c.Rounds)) - float64(c.Limit)
	c.sent += r.Sent
	c.useless += r.Useless
	c.Useless = float64(c.useless) / float64(c.sent)
	return nil
}

func (c *RoundCase) sorted() []int { return slices.Sorted(slices.Values(c.Rounds)) }
