package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/interop/bench"
)

const roundsHelp = `Compares ways to move blocks through one homogeneous cluster, in
rounds: in each a node sends one block and receives one. There are no links and no seconds. No
broadcast of k blocks to n nodes takes fewer than k + log2 n - 1. The strategies are Cooper's:
  permutation  random combinations of all blocks, to successors in random orders
  sequential   the same with batches, one after the other
  overlap1     the next batch goes to those that have the one before
  overlap2     the next batch goes first for log2 n rounds, before the one before ends
  rb           plain blocks at random, of the blocks that the receiver is known to need`

const roundsExample = `  mob-bench rounds --strategy permutation,rb --nodes 20,100,300 --repeat 20
  mob-bench rounds --strategy sequential,overlap1,overlap2 --nodes 50 --blocks 200 --batches 2`

func newRounds(a *command.App) *cobra.Command {
	var f roundFlags
	return a.Command(command.Spec{
		Use: "rounds", Short: "Simulate strategies in rounds", Long: roundsHelp, Example: roundsExample, Flags: f.add, JSON: true,
		Run: func(ctx context.Context, a *command.App, _ []string) error {
			r, err := f.report(ctx, a)
			if err != nil {
				return err
			}
			return printReport(a, r)
		},
	})
}

// roundFlags are the flags of mob-bench rounds.
type roundFlags struct {
	repeatFlags
	strategies []string
	nodes      []int
	blocks     int
	batches    int
}

func (f *roundFlags) add(fl *pflag.FlagSet) {
	f.repeatFlags.add(fl, 1, "runs of each strategy")
	fl.StringSliceVar(&f.strategies, "strategy", []string{"permutation", "rb"}, "what to simulate: "+strings.Join(bench.RoundStrategyNames(), ","))
	fl.IntSliceVar(&f.nodes, "nodes", []int{20}, "sizes of the cluster, such as 20,50,100")
	fl.IntVar(&f.blocks, "blocks", 200, "blocks in a batch")
	fl.IntVar(&f.batches, "batches", 1, "number of batches")
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
			c, err := bench.NewRoundCase(name, n, f.blocks, f.batches)
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, f.check()
}

// report simulates in rounds.
func (f *roundFlags) report(ctx context.Context, a *command.App) (*bench.RoundReport, error) {
	cases, err := f.cases()
	if err != nil {
		return nil, command.Usagef("%w", err)
	}
	for _, c := range cases {
		if err := f.runs(ctx, a, c.Strategy, fmt.Sprintf("%d nodes", c.Nodes), c.Run); err != nil {
			return nil, err
		}
	}
	return &bench.RoundReport{Blocks: f.blocks, Batches: f.batches, Cases: cases}, nil
}
