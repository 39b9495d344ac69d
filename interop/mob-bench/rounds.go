package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/interop/bench"
)

// roundFlags are the flags of mob-bench sim that simulate strategies in rounds.
type roundFlags struct {
	strategies []string
	nodes      []int
	blocks     int
	batches    int
	set        *pflag.FlagSet
}

func (f *roundFlags) add(fl *pflag.FlagSet) {
	f.set = fl
	fl.StringSliceVar(&f.strategies, "strategy", nil, "simulate these in rounds instead: "+strings.Join(bench.RoundStrategyNames(), ","))
	fl.IntSliceVar(&f.nodes, "nodes", []int{20}, "with --strategy: sizes of the cluster, such as 20,50,100")
	fl.IntVar(&f.blocks, "blocks", 200, "with --strategy: blocks in a batch")
	fl.IntVar(&f.batches, "batches", 1, "with --strategy: batches")
}

// given reports whether rounds are to be simulated. An error is a usage error: a flag of the
// other kind of simulation.
func (f *roundFlags) given() (bool, error) {
	rounds := f.set.Changed("strategy")
	only := []string{"strategy", "nodes", "blocks", "batches"}
	both := []string{"seed", "repeat", "json"}
	var err error
	f.set.Visit(func(fl *pflag.Flag) {
		switch {
		case slices.Contains(both, fl.Name):
		case rounds && !slices.Contains(only, fl.Name):
			err = fmt.Errorf("--%s is invalid with --strategy: rounds have no links and no seconds", fl.Name)
		case !rounds && slices.Contains(only, fl.Name):
			err = fmt.Errorf("--%s needs a --strategy", fl.Name)
		}
	})
	return rounds, err
}

// The limits of what can be simulated in reasonable time and memory.
const (
	maxRoundNodes  = 2000
	maxRoundBlocks = 20000
)

// cases makes a case of each strategy with each number of nodes. An error is a usage error.
func (f *roundFlags) cases() ([]*bench.RoundCase, error) {
	if f.blocks < 1 || f.batches < 1 || f.blocks > maxRoundBlocks || f.batches > maxRoundBlocks || f.blocks*f.batches > maxRoundBlocks {
		return nil, fmt.Errorf("--batches %d of --blocks %d: must be 1 to %d blocks in total", f.batches, f.blocks, maxRoundBlocks)
	}
	if len(f.strategies) == 0 || len(f.nodes) == 0 {
		return nil, errors.New("--strategy and --nodes each require at least one value")
	}
	var all []*bench.RoundCase
	for _, n := range f.nodes {
		if n < 2 || n > maxRoundNodes {
			return nil, fmt.Errorf("--nodes %d is not 2 to %d", n, maxRoundNodes)
		}
		for _, name := range f.strategies {
			s, err := bench.FindRoundStrategy(name)
			if err != nil {
				return nil, err
			}
			if s.Batched && f.batches < 2 {
				return nil, fmt.Errorf("--strategy %s requires --batches 2 or more", name)
			}
			c, err := bench.NewRoundCase(s, n, f.blocks, f.batches)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(all, func(d *bench.RoundCase) bool { return d.Strategy == name && d.Nodes == n }) {
				return nil, fmt.Errorf("%s among %d nodes is asked for twice", name, n)
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// report simulates in rounds.
func (f *roundFlags) report(ctx context.Context, a *command.App, common *commonFlags) (*bench.RoundReport, error) {
	cases, err := f.cases()
	if err == nil {
		err = common.checkRepeat()
	}
	if err != nil {
		return nil, command.Usagef("%w", err)
	}
	for _, c := range cases {
		if err := common.runs(ctx, a, c.Strategy, fmt.Sprintf("%d nodes", c.Nodes), c.Run); err != nil {
			return nil, err
		}
	}
	return &bench.RoundReport{Blocks: f.blocks, Batches: f.batches, Cases: cases}, nil
}
