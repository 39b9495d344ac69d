package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/interop/bench"
)

const simHelp = `Runs mob in a simulator, up to thousands of nodes: it runs the decisions of the real
program; the network is a model of queues and links in virtual time. It has no slow
start, no losses and no CPU, so it shows how good the decisions are, not how fast the
program is. One seed gives one result. With --repeat the nodes draw by the seeds that
follow, over the same links. Two hundred nodes take seconds, a thousand some minutes.

With racks, as in --clusters '20x(5x20)', nodes have names of clusters such as A/r1. In mob:site
they know their site only.

Scenario random, in which every link between two clusters draws 0.6 to 6 MB/s, works
with any number of clusters.

mob:coded simulates a coded transfer, with generations of 16 blocks, or k with
mob:coded=k; blocks are as long as with mob seed --coded.

In mob:plan=balanced nodes follow a plan, as mob seed --plan has them do. It is made for the links
as they are in scenario fast, or for given ones, and the transfer shows what it costs when they
are otherwise.`

const simExample = `  mob-bench sim --clusters 4x4 --scenario mayhem --repeat 5
  mob-bench sim --clusters 20x10 --scenario random --size 240MB
  mob-bench sim --clusters '20x(5x20)' --rack-uplink 12.5MB --scenario random --size 60MB
  mob-bench sim --clusters 4x16 --rtt 100ms --kill 10%@5s --slow-node C2=0.5MB --json
  mob-bench sim --systems mob,mob:coded=32 --clusters 20 --nic 1.875MB --size 100MB
  mob-bench sim --systems mob,mob:plan=edmonds --scenario mayhem`

// simNIC is the default of --nic in simulations.
const simNIC = "500MB"

func newSim(a *command.App) *cobra.Command {
	var f commonFlags
	return a.Command(command.Spec{
		Use: "sim", Short: "Simulate up to thousands of nodes", Long: simHelp, Example: simExample, Flags: f.addSim, JSON: true,
		Run: func(ctx context.Context, a *command.App, _ []string) error {
			c, err := f.benchCase()
			if err != nil {
				return command.Usagef("%w", err)
			}
			if f.plan != "" {
				f.systems = []string{"mob:plan=" + f.plan}
			}
			systems, err := parseSystems(f.systems)
			if err != nil {
				return command.Usagef("%w", err)
			}
			r, err := f.simulate(ctx, a, &c, systems)
			if err != nil {
				return err
			}
			return f.finish(a, r, systems)
		},
	})
}

// addSim adds the flags of mob-bench sim.
func (f *commonFlags) addSim(fl *pflag.FlagSet) {
	f.add(fl, "what to simulate: mob, with mob:site, mob:coded, mob:coded=k and mob:plan=algorithm")
	fl.StringVar(&f.plan, "plan", "", "short for --systems mob:plan=`algorithm`")
	fl.Lookup("nic").DefValue = simNIC
	f.nic = simNIC
}

// simulate runs the systems in the simulator.
func (f *commonFlags) simulate(ctx context.Context, a *command.App, c *bench.Case, systems []bench.System) (*bench.Report, error) {
	r := bench.NewReport(c)
	a.Note("%s", r.Case)
	for _, system := range systems {
		m, ok := system.(bench.Mob)
		if !ok {
			return nil, command.Usagef("--systems: %s cannot be simulated", system.Name())
		}
		s, err := bench.NewSimulation(c, m)
		if err != nil {
			return nil, command.Usagef("--systems: %w", err)
		}
		err = f.runs(ctx, a, m.Name(), "simulating", func(seed uint64) error {
			run, err := s.Run(seed)
			if err == nil {
				r.Add(m.Name(), run)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}
