package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/mob/permutation"
	"github.com/mobgrid/mob/mob/sim/rounds"
)

// strategy is a way of moving blocks through one homogeneous cluster.
type strategy struct {
	name string
	cfg  rounds.Config
	// whole says that all blocks make one batch.
	whole bool
}

func allStrategies() []strategy {
	return []strategy{
		{name: "permutation", whole: true},
		{name: "sequential", cfg: rounds.Config{Order: permutation.Sequential}},
		{name: "overlap1", cfg: rounds.Config{Order: permutation.Overlap1}},
		{name: "overlap2", cfg: rounds.Config{Order: permutation.Overlap2}},
		{name: "rb", cfg: rounds.Config{Uncoded: true}, whole: true},
	}
}

func strategyNames() []string {
	var names []string
	for _, s := range allStrategies() {
		names = append(names, s.name)
	}
	return names
}

// roundFlags say which strategies are simulated in rounds, and with what.
type roundFlags struct {
	strategies []string
	nodes      []int
	blocks     int
	batches    int
}

func (f *roundFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringSliceVar(&f.strategies, "strategy", nil, "simulate these in rounds instead: "+strings.Join(strategyNames(), ","))
	fl.IntSliceVar(&f.nodes, "nodes", []int{20}, "with --strategy: sizes of the cluster, such as 20,50,100")
	fl.IntVar(&f.blocks, "blocks", 200, "with --strategy: blocks in a batch")
	fl.IntVar(&f.batches, "batches", 1, "with --strategy: batches")
}

// given says whether rounds are asked for. An error is wrong usage: a flag that is
// for the other kind of simulation.
func (f *roundFlags) given(cmd *cobra.Command) (bool, error) {
	rounds := cmd.Flags().Changed("strategy")
	only := []string{"strategy", "nodes", "blocks", "batches"}
	both := []string{"seed", "repeat", "json", "svg"}
	var err error
	cmd.Flags().Visit(func(fl *pflag.Flag) {
		switch {
		case slices.Contains(both, fl.Name) || cmd.InheritedFlags().Lookup(fl.Name) != nil:
		case rounds && !slices.Contains(only, fl.Name):
			err = fmt.Errorf("--%s has no meaning with --strategy: rounds have no links and no seconds", fl.Name)
		case !rounds && slices.Contains(only, fl.Name):
			err = fmt.Errorf("--%s needs a --strategy", fl.Name)
		}
	})
	return rounds, err
}

// The bounds of what is simulated in a reasonable time and memory.
const (
	maxRoundNodes  = 2000
	maxRoundBlocks = 20000
)

// cases are the configurations that the flags ask for, by strategy and size; an
// error is wrong usage.
func (f *roundFlags) cases() ([]roundCase, error) {
	if f.blocks < 1 || f.batches < 1 || f.blocks > maxRoundBlocks || f.batches > maxRoundBlocks || f.blocks*f.batches > maxRoundBlocks {
		return nil, fmt.Errorf("--batches %d of --blocks %d: want 1 to %d blocks in all", f.batches, f.blocks, maxRoundBlocks)
	}
	if len(f.strategies) == 0 || len(f.nodes) == 0 {
		return nil, errors.New("--strategy and --nodes want at least one each")
	}
	var all []roundCase
	for _, n := range f.nodes {
		if n < 2 || n > maxRoundNodes {
			return nil, fmt.Errorf("--nodes %d is not 2 to %d", n, maxRoundNodes)
		}
		for _, name := range f.strategies {
			c, err := f.roundCase(name)
			if err != nil {
				return nil, err
			}
			c.cfg.Nodes = n
			if slices.ContainsFunc(all, func(d roundCase) bool { return d.Strategy == name && d.cfg.Nodes == n }) {
				return nil, fmt.Errorf("%s among %d nodes is asked for twice", name, n)
			}
			all = append(all, c)
		}
	}
	return all, nil
}

func (f *roundFlags) roundCase(name string) (roundCase, error) {
	all := allStrategies()
	i := slices.IndexFunc(all, func(s strategy) bool { return s.name == name })
	if i < 0 {
		return roundCase{}, fmt.Errorf("unknown strategy %q: use some of %s", name, strings.Join(strategyNames(), ","))
	}
	c := roundCase{Strategy: name, cfg: all[i].cfg}
	switch {
	case all[i].whole:
		c.cfg.Batches = []int{f.blocks * f.batches}
	case f.batches < 2:
		return roundCase{}, fmt.Errorf("--strategy %s wants --batches 2 or more", name)
	default:
		c.cfg.Batches = slices.Repeat([]int{f.blocks}, f.batches)
	}
	return c, c.cfg.CheckBatches()
}

// sim simulates what the flags say, and prints what came of it.
func (f *roundFlags) sim(cmd *cobra.Command, sh *Shell, common *flags) error {
	cases, err := f.cases()
	if err == nil {
		err = common.checkRepeat()
	}
	if err != nil {
		return sh.Wrong(cmd, err)
	}
	r, err := f.run(cmd.Context(), sh, cases, common)
	if err != nil {
		return err
	}
	if common.json {
		err = r.writeJSON(sh.Out)
	} else {
		err = r.writeTable(sh.Out)
	}
	if common.svg != "" {
		err = errors.Join(err, draw(common.svg, r.writeSVG))
	}
	return err
}

// run simulates every case, as often as asked for.
func (f *roundFlags) run(ctx context.Context, sh *Shell, cases []roundCase, common *flags) (*roundReport, error) {
	r := &roundReport{Blocks: f.blocks, Batches: f.batches}
	for _, c := range cases {
		live := sh.Live()
		for i := range common.repeat {
			live.Show(fmt.Sprintf("%s, %d nodes", whichRun(c.Strategy, i, common.repeat), c.cfg.Nodes))
			c.cfg.Seed = common.seed + uint64(i)
			run, err := runRounds(ctx, c.cfg)
			if err != nil {
				live.Clear()
				return nil, err
			}
			c.add(run)
		}
		live.Clear()
		r.Cases = append(r.Cases, c)
	}
	return r, nil
}

// runRounds simulates one broadcast. Who interrupts it need not wait for it.
func runRounds(ctx context.Context, cfg rounds.Config) (*rounds.Report, error) {
	type result struct {
		report *rounds.Report
		err    error
	}
	done := make(chan result, 1)
	go func() {
		r, err := rounds.Run(cfg)
		done <- result{r, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-done:
		return r.report, r.err
	}
}
