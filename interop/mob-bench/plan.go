package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/topology"
	"github.com/mobgrid/mob/mob/plan"
)

const planHelp = `Computes broadcast trees for a topology with known rates. It sends nothing.

TOPOLOGY.toml has hosts, switches and links:
  [[host]]      name, cluster, and if they are limited send and receive, the rates of
                its interface; what it relays takes of both
  [[switch]]    name
  [[link]]      a, b, and rate for both ways, or ab and ba
A cluster has a switch of its name, and a rack A/r1 a switch below the switch of A. A host
or rack that no link names hangs from the switch of its cluster or site, without a limit.
Between two hosts the network takes the route of fewest links, and of several the widest.

A plan is trees. Each carries a part of the pieces, in proportion to its rate.
  stable     depth first, until no host can be reached: slow hosts are last in the pipelines
             of their switches, and the later trees leave them out
  fpfr       the same, with the trees that have all hosts only
  balanced   trees with all hosts, with the greatest sum of rates
  edmonds    trees between sites with the greatest sum, and chains in the sites
  chain      a pipeline in the order of clusters, and of the numbers in names
  dijkstra   one tree: the host with the fastest path is added next
  random     the best of 100 pipelines in random order
  flat       the source sends to all

The rate of a host is what it gets. In plans of one tree that are not paced (chain,
dijkstra, random and flat) links are shared fairly. Its min-cut is the bound of every plan.`

const planExample = `  mob-bench plan sites.toml --source a1
  mob-bench plan sites.toml --source a1 --algorithm edmonds --json
  mob-bench plan sites.toml --source a1 --algorithm balanced --dot | dot -Tsvg > plan.svg`

func newPlan(a *command.App) *cobra.Command {
	var source, algorithm string
	var seed uint64
	var dot bool
	return a.Command(command.Spec{
		Use: "plan TOPOLOGY.toml", Short: "Compute broadcast trees for a topology", Long: planHelp, Example: planExample,
		Args: command.Args(1, "TOPOLOGY.toml"), JSON: true,
		Flags: func(fl *pflag.FlagSet) {
			fl.StringVar(&source, "source", "", "host that has the content")
			fl.StringVar(&algorithm, "algorithm", "stable", strings.Join(plan.Algorithms(), ", "))
			fl.Uint64Var(&seed, "seed", 1, "seed of random choices")
			fl.BoolVar(&dot, "dot", false, "print a graph for graphviz")
		},
		Run: func(ctx context.Context, a *command.App, given []string) error {
			switch {
			case source == "":
				return command.Usagef("--source is missing: name the host that has the content")
			case dot && a.JSON:
				return command.Usagef("--dot and --json are mutually exclusive")
			}
			if err := plan.CheckAlgorithm(algorithm); err != nil {
				return command.Usagef("--algorithm: %w", err)
			}
			r, err := planFile(ctx, a, given[0], source, algorithm, seed)
			switch {
			case err != nil:
				return err
			case dot:
				return r.dot(a.Out)
			}
			return a.Print(r, r.print)
		},
	})
}

func planFile(ctx context.Context, a *command.App, path, source, algorithm string, seed uint64) (*planReport, error) {
	t, err := topology.Read(path)
	if err != nil {
		return nil, err
	}
	var r *planReport
	err = await(ctx, a, algorithm, func() (err error) {
		r, err = makePlan(t, source, algorithm, seed)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// makePlan makes a plan and its report.
func makePlan(t *plan.Topology, source, algorithm string, seed uint64) (*planReport, error) {
	began := time.Now()
	n, err := plan.NewNetwork(t)
	if err != nil {
		return nil, err
	}
	p, err := n.Plan(algorithm, source, nil, seed)
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	rates, err := n.Rates(algorithm, p)
	if err != nil {
		return nil, err
	}
	cuts, err := n.Cuts(source)
	if err != nil {
		return nil, err
	}
	return newPlanReport(t, algorithm, p, rates, cuts, took), nil
}
