package compare

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/mob/sim"
)

const simHelp = `Runs mob in a simulator, up to thousands of nodes: the decisions are those of the real
program, the network is a model of queues and links in virtual time. It has no slow
start, no losses and no CPU, so it says how good the decisions are, not how fast the
program is. One seed gives one result. With --repeat the nodes draw by the seeds that
follow, over the same links. Two hundred nodes take seconds, a thousand some minutes.

Scenario random, in which every link between two clusters draws 0.6 to 6 MB/s, works
with any number of clusters.

--coded simulates a coded transfer, with generations of 16 blocks unless it says how
many, as in --coded=32; blocks are as long as those of mob seed --coded.

With --strategy it compares ways to move blocks through one homogeneous cluster, in
rounds: in each a node sends one block and receives one. No broadcast of k blocks to n
nodes takes fewer than k + log2 n - 1. The strategies are Cooper's:
  permutation  random combinations of all blocks, to successors in random orders
  sequential   the same with batches, one after the other
  overlap1     the next batch goes to those that have the one before
  overlap2     the next batch goes first for log2 n rounds, before the one before ends
  rb           plain blocks at random, of those that the receiver is known to lack`

const simExample = `  mob bench sim --clusters 4x4 --scenario mayhem --repeat 5
  mob bench sim --clusters 20x10 --scenario random --size 240MB
  mob bench sim --clusters 4x16 --rtt 100ms --kill 10%@5s --slow-node C2=0.5MB --json
  mob bench sim --coded=32 --clusters 20 --nic 1.875MB --size 100MB
  mob bench sim --strategy permutation,rb --nodes 20,100,300 --repeat 20
  mob bench sim --strategy sequential,overlap1,overlap2 --nodes 50 --blocks 200 --batches 2`

// simNIC is what the nodes of a simulation have when nothing is said.
const simNIC = "500MB"

func newSim(sh *Shell) *cobra.Command {
	var f flags
	var rf roundFlags
	var k int
	cmd := &cobra.Command{
		Use: "sim", Short: "Simulate up to thousands of nodes", Long: simHelp, Example: simExample,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if inRounds, err := rf.given(cmd); err != nil {
				return sh.Wrong(cmd, err)
			} else if inRounds {
				return rf.sim(cmd, sh, &f)
			}
			c, err := f.benchCase()
			if err != nil {
				return sh.Wrong(cmd, err)
			}
			s := simulated{own, simConfig(&c)}
			if cmd.Flags().Changed("coded") {
				if err := s.code(k); err != nil {
					return sh.Wrong(cmd, fmt.Errorf("--coded=%d: %w", k, err))
				}
			}
			return f.sim(cmd.Context(), sh, &c, s)
		},
	}
	f.add(cmd)
	rf.add(cmd)
	cmd.Flags().IntVar(&k, "coded", 0, "a coded transfer, with generations of `k` blocks")
	cmd.Flags().Lookup("coded").NoOptDefVal = strconv.Itoa(simCodedK)
	cmd.Flags().Lookup("nic").DefValue = simNIC
	f.nic = simNIC
	return cmd
}

// simulated is mob in the simulator.
type simulated struct {
	name string // in the table
	cfg  sim.Config
}

func (f *flags) sim(ctx context.Context, sh *Shell, c *bench.Case, s simulated) error {
	s.cfg.Idle = f.verbose && !f.json
	r := bench.NewReport(c)
	var idle []sim.Idleness // of the last run
	sh.Note("%s", r.Case)
	for i := range f.repeat {
		report, err := s.run(ctx, sh, i, f.repeat)
		if err != nil {
			return err
		}
		r.Add(s.name, simResult(c, report))
		idle = report.Idle
	}
	err := f.results(sh, r, s.name)
	for _, i := range idle {
		fmt.Fprintf(sh.Out, "\n%v\n", &i)
	}
	return err
}

// run simulates one transfer. The simulator cannot be stopped; who interrupts it need
// not wait for it.
func (s simulated) run(ctx context.Context, sh *Shell, i, of int) (*sim.Report, error) {
	type result struct {
		report *sim.Report
		err    error
	}
	done := make(chan result, 1)
	s.cfg.Seed += uint64(i) // of what the nodes draw; links and deaths stay
	go func() {
		r, err := sim.Run(s.cfg)
		done <- result{r, err}
	}()
	p := sh.Live()
	defer p.Clear()
	began := time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
			p.Show(fmt.Sprintf("%s: simulating for %.0f s", whichRun(s.name, i, of), time.Since(began).Seconds()))
		case r := <-done:
			return r.report, r.err
		}
	}
}
