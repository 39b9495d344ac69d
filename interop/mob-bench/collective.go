package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/bench/operations"
	"github.com/mobgrid/mob/interop/netns"
)

const collectiveHelp = `Runs collective operations of 16 members in four clusters, on the links of the scenario
fast and with a round trip of 40 ms. It needs root.

tcp is a program in which all members send their values to the root, or in a shuffle to
the receivers. mpich and openmpi are MPI. Copies are the bytes that entered a cluster at
its interfaces, by the size of a value.`

const collectiveExample = `  mob-bench collective --repeat 3
  mob-bench collective --repeat 3 --json >>docs/results.json
  mob-bench collective --operations 'AllReduce, 800 kB'`

// operationTimeout bounds a run of an operation.
const operationTimeout = 3 * time.Minute

func newCollective(a *command.App) *cobra.Command {
	var member string
	var names []string
	var repeat int
	return a.Command(command.Spec{
		Use: "collective", Short: "Compare collective operations with TCP and MPI", Long: collectiveHelp, Example: collectiveExample, JSON: true,
		Flags: func(fl *pflag.FlagSet) {
			fl.StringVar(&member, "member", "", "")
			_ = fl.MarkHidden("member") // exists
			fl.StringArrayVar(&names, "operations", nil, "run this `OPERATION` only; repeatable")
			fl.IntVar(&repeat, "repeat", 1, "`NUMBER` of runs")
		},
		Run: func(ctx context.Context, a *command.App, _ []string) error {
			if member != "" {
				m := new(operations.Member)
				if err := json.Unmarshal([]byte(member), m); err != nil {
					return err
				}
				return m.Run(ctx)
			}
			if err := netns.Available(); err != nil {
				return err
			}
			return runCollective(ctx, a, names, repeat)
		},
	})
}

func runCollective(ctx context.Context, a *command.App, names []string, repeat int) error {
	var failed error
	for _, o := range operations.Operations() {
		if len(names) > 0 && !slices.Contains(names, o.Name) {
			continue
		}
		made := bench.NewMade()
		made.Command = "mob-bench collective --json --repeat " + fmt.Sprint(repeat)
		r := &bench.Report{Made: made, Case: o.Name, Scenario: "fast", Bytes: int64(o.Bytes)}
		for _, c := range netns.Clusters(4, 4, 4, 4) {
			r.Clusters = append(r.Clusters, bench.ClusterSize{Name: c.Name, Nodes: c.Nodes})
		}
		for range repeat {
			for _, system := range o.Systems {
				if err := operations.Missing(system); err != nil {
					r.LeftOut = append(r.LeftOut, bench.LeftOut{System: system, Why: err.Error()})
					continue
				}
				a.Note("%s with %s", o.Name, system)
				run := runOperation(ctx, system, o)
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				r.Add(system, run)
				if run.Error != "" {
					failed = errors.Join(failed, fmt.Errorf("%s, %s: %s", o.Name, system, run.Error))
				}
			}
		}
		if err := printReport(a, r); err != nil {
			return err
		}
	}
	return failed
}

// runOperation runs an operation. Last is the median of its repeats.
func runOperation(ctx context.Context, system string, o operations.Operation) *bench.Run {
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	run := new(bench.Run)
	result, err := operations.Run(ctx, system, o)
	if err != nil {
		run.Error = err.Error()
		return run
	}
	slices.Sort(result.Seconds)
	run.Last, run.Machine = result.Seconds[len(result.Seconds)/2], result.Machine
	run.Rate = float64(o.Bytes) / run.Last
	for _, cluster := range []string{"A", "B", "C", "D"} {
		run.Copies = append(run.Copies, bench.ClusterCopies{Cluster: cluster, Copies: result.In[cluster] / float64(o.Bytes)})
	}
	return run
}
