package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/mob/plan"
)

const simHelp = `Runs mob in a simulator, up to thousands of nodes: it runs the decisions of the real
program; the network is a model of queues and links in virtual time. It has no slow
start, no losses and no CPU, so it shows how good the decisions are, not how fast the
program is. One seed gives one result. With --repeat the nodes draw by the seeds that
follow, over the same links. Two hundred nodes take seconds, a thousand some minutes.

With racks, as in --clusters '20x(5x20)', nodes have names of clusters such as A/r1; with
--flat they know their site only.

Scenario random, in which every link between two clusters draws 0.6 to 6 MB/s, works
with any number of clusters.

--coded simulates a coded transfer, with generations of 16 blocks, or k with
--coded=k; blocks are as long as with mob seed --coded.

--plan has nodes follow a plan, as mob seed --plan does. It is made for the links as they
are in scenario fast, or for given ones, and the transfer shows what it costs when they
are otherwise.

With --strategy it compares ways to move blocks through one homogeneous cluster, in
rounds: in each a node sends one block and receives one. No broadcast of k blocks to n
nodes takes fewer than k + log2 n - 1. The strategies are Cooper's:
  permutation  random combinations of all blocks, to successors in random orders
  sequential   the same with batches, one after the other
  overlap1     the next batch goes to those that have the one before
  overlap2     the next batch goes first for log2 n rounds, before the one before ends
  rb           plain blocks at random, of the blocks that the receiver is known to need`

const simExample = `  mob-bench sim --clusters 4x4 --scenario mayhem --repeat 5
  mob-bench sim --clusters 20x10 --scenario random --size 240MB
  mob-bench sim --clusters '20x(5x20)' --rack-uplink 12.5MB --scenario random --size 60MB
  mob-bench sim --clusters 4x16 --rtt 100ms --kill 10%@5s --slow-node C2=0.5MB --json
  mob-bench sim --coded=32 --clusters 20 --nic 1.875MB --size 100MB
  mob-bench sim --plan edmonds --scenario mayhem
  mob-bench sim --strategy permutation,rb --nodes 20,100,300 --repeat 20
  mob-bench sim --strategy sequential,overlap1,overlap2 --nodes 50 --blocks 200 --batches 2`

// simNIC is the default of --nic in simulations.
const simNIC = "500MB"

func newSim(a *command.App) *cobra.Command {
	var f simFlags
	return a.Command(command.Spec{
		Use: "sim", Short: "Simulate up to thousands of nodes", Long: simHelp, Example: simExample, Flags: f.add, JSON: true, Run: f.run,
	})
}

// simFlags are the flags of sim.
type simFlags struct {
	commonFlags
	rounds    roundFlags
	k         int
	flat      bool
	algorithm string
}

func (f *simFlags) add(fl *pflag.FlagSet) {
	f.commonFlags.add(fl)
	f.rounds.add(fl)
	fl.IntVar(&f.k, "coded", 0, "a coded transfer, with generations of `k` blocks")
	fl.Lookup("coded").NoOptDefVal = strconv.Itoa(bench.SimCodedK)
	fl.BoolVar(&f.flat, "flat", false, "nodes know their site only, and not their rack")
	fl.StringVar(&f.algorithm, "plan", "", "follow a plan for the links: "+strings.Join(plan.Algorithms(), ", "))
	fl.Lookup("nic").DefValue = simNIC
	f.nic = simNIC
}

func (f *simFlags) run(ctx context.Context, a *command.App, _ []string) error {
	inRounds, err := f.rounds.given()
	if err != nil {
		return command.Usagef("%w", err)
	}
	if inRounds {
		r, err := f.rounds.report(ctx, a, &f.commonFlags)
		if err != nil {
			return err
		}
		return f.print(a, r)
	}
	c, err := f.benchCase()
	if err != nil {
		return command.Usagef("%w", err)
	}
	r, err := f.report(ctx, a, &c)
	if err != nil {
		return err
	}
	return errors.Join(f.print(a, r), f.printLinks(a, r), f.verdict(r, r.Results[0].System))
}

// report simulates a case.
func (f *simFlags) report(ctx context.Context, a *command.App, c *bench.Case) (*bench.Report, error) {
	s := bench.NewSimulation(c)
	coded := f.rounds.set.Changed("coded")
	if coded {
		if err := s.Code(f.k); err != nil {
			return nil, command.Usagef("--coded=%d: %w", f.k, err)
		}
	}
	if f.flat {
		s.Flatten()
	}
	if f.algorithm != "" {
		if coded {
			return nil, command.Usagef("--plan and --coded are mutually exclusive: a transfer is planned or coded")
		}
		if err := plan.CheckAlgorithm(f.algorithm); err != nil {
			return nil, command.Usagef("--plan: %w", err)
		}
		if err := s.Plan(f.algorithm); err != nil {
			return nil, fmt.Errorf("plan: %w", err)
		}
	}
	r := bench.NewReport(c)
	a.Note("%s", r.Case)
	err := f.runs(ctx, a, s.Name(), "simulating", func(seed uint64) error {
		run, err := s.Run(seed)
		if err == nil {
			r.Add(s.Name(), run)
		}
		return err
	})
	return r, err
}
