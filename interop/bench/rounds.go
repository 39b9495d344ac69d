package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mobgrid/mob/mob/sim"
	"github.com/mobgrid/mob/proto"
)

// RoundStrategy is a way to move blocks through one homogeneous cluster.
type RoundStrategy struct {
	Name string
	// Batched strategies overlap batches or take them in turn, so they need at least two.
	// For the other ones all blocks are one batch.
	Batched bool

	strategy proto.Strategy
}

// roundStrategies are Cooper's.
func roundStrategies() []RoundStrategy {
	return []RoundStrategy{
		{Name: "permutation", strategy: proto.Sequential},
		{Name: "sequential", Batched: true, strategy: proto.Sequential},
		{Name: "overlap1", Batched: true, strategy: proto.Overlap1},
		{Name: "overlap2", Batched: true, strategy: proto.Overlap2},
		{Name: "rb", strategy: proto.RandomBlock},
	}
}

// RoundStrategyNames lists the strategies that FindRoundStrategy knows.
func RoundStrategyNames() []string {
	var names []string
	for _, s := range roundStrategies() {
		names = append(names, s.Name)
	}
	return names
}

// FindRoundStrategy returns the strategy of a name.
func FindRoundStrategy(name string) (RoundStrategy, error) {
	all := roundStrategies()
	i := slices.IndexFunc(all, func(s RoundStrategy) bool { return s.Name == name })
	if i < 0 {
		return RoundStrategy{}, fmt.Errorf("unknown strategy %q: use some of %s", name, strings.Join(RoundStrategyNames(), ","))
	}
	return all[i], nil
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
func NewRoundCase(s RoundStrategy, nodes, blocks, batches int) (*RoundCase, error) {
	c := &RoundCase{Strategy: s.Name, Nodes: nodes}
	c.cfg = sim.Rounds{Nodes: nodes, Strategy: s.strategy, Blocks: []int{blocks * batches}}
	if s.Batched {
		c.cfg.Blocks = slices.Repeat([]int{blocks}, batches)
	}
	c.Limit = sim.RoundsLimit(blocks*batches, nodes)
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
