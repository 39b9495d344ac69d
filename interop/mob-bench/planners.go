package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/mob/plan"
)

const plannersHelp = `Compares planners on a tree of switches with 400 hosts, as the paper of stable did: the
sums of the rates that all destinations get, relative to a source that sends to all.

Links draw their rates from a model, in Mbit/s:
  low       500 to 1000
  high      100 to 1000
  mixed     1000, and one link of five 100
  clusters  100 to 1000 between switches, 1000 at hosts
All planners have the same links, source and destinations. Rates of plans that share out
the links (stable, fpfr, balanced, edmonds) are the rates of their trees. In other plans flows
share links fairly, and no host forwards more than it gets. "mob-bench plan --help" says what
the planners do. One seed gives one result.`

const plannersExample = `  mob-bench planners
  mob-bench planners --model mixed --destinations 10,100,399 --algorithms stable,fpfr,flat --json`

func newPlanners(a *command.App) *cobra.Command {
	var f plannersFlags
	return a.Command(command.Spec{
		Use: "planners", Short: "Compare planners", Long: plannersHelp, Example: plannersExample, Flags: f.add, JSON: true,
		Run: func(ctx context.Context, a *command.App, _ []string) error {
			r, err := f.report(ctx, a)
			if err != nil {
				return err
			}
			return printReport(a, r)
		},
	})
}

func (f *plannersFlags) add(fl *pflag.FlagSet) {
	fl.StringSliceVar(&f.models, "model", bench.PlanModels(), "how links draw their rates")
	fl.StringSliceVar(&f.links, "links", []string{"symmetric", "asymmetric"}, "whether a link has the same rate both ways")
	fl.IntSliceVar(&f.destinations, "destinations", []int{10, 100, 200, 300, 399}, "numbers of hosts that get the content")
	fl.StringSliceVar(&f.algorithms, "algorithms", plan.Algorithms(), "planners")
	f.repeatFlags.add(fl, 10, "runs, each with new links, a new source and new destinations")
}

// plannersFlags are the flags of mob-bench planners.
type plannersFlags struct {
	repeatFlags
	models, links, algorithms []string
	destinations              []int
}

// cases makes a case of each model with each number of destinations. An error is a usage error.
func (f *plannersFlags) cases() (all []*bench.PlanCase, err error) {
	for _, a := range f.algorithms {
		if err := plan.CheckAlgorithm(a); err != nil {
			return nil, fmt.Errorf("--algorithms: %w", err)
		}
	}
	for _, n := range f.destinations {
		if n < 1 || n >= bench.PlanNodes {
			return nil, fmt.Errorf("--destinations must be numbers from 1 to %d", bench.PlanNodes-1)
		}
	}
	for _, links := range f.links {
		if links != "symmetric" && links != "asymmetric" {
			return nil, fmt.Errorf("--links %q is not symmetric or asymmetric", links)
		}
		for _, model := range f.models {
			if !slices.Contains(bench.PlanModels(), model) {
				return nil, fmt.Errorf("unknown --model %q: use one of %s", model, strings.Join(bench.PlanModels(), ", "))
			}
			for _, n := range f.destinations {
				all = append(all, bench.NewPlanCase(model, links == "symmetric", n, f.algorithms))
			}
		}
	}
	if len(all) == 0 || len(f.algorithms) == 0 {
		return nil, errors.New("--model, --links, --destinations and --algorithms each require at least one value")
	}
	return all, f.check()
}

// report compares planners.
func (f *plannersFlags) report(ctx context.Context, a *command.App) (*bench.PlanReport, error) {
	cases, err := f.cases()
	if err != nil {
		return nil, command.Usagef("%w", err)
	}
	for _, c := range cases {
		if err := f.runs(ctx, a, c.Model, fmt.Sprintf("%d destinations", c.Destinations), c.Run); err != nil {
			return nil, err
		}
	}
	return &bench.PlanReport{Nodes: bench.PlanNodes, Seed: f.seed, Cases: cases}, nil
}
