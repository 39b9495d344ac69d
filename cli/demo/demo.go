package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mobgrid/mob/cli/command"
	"github.com/mobgrid/mob/cli/term"
)

const help = `Runs a whole grid in this process, on loopback: a tracker, a source, and clusters of
nodes, with real connections and real files in a temporary directory. Every node fetches
the source's random content, and each copy is compared with the original.

The receipt shows the point of mob: the content enters each cluster about once ("WAN
copies"), and its nodes get the rest from each other. Exit status 0 means that all
copies are intact.`

const example = `  mob demo
  mob demo --clusters 4 --nodes 8 --size 256MB
  TMPDIR=/data/tmp mob demo --size 4GB`

// maxDemoNodes bounds the nodes of a demo: each has a host, sockets and goroutines.
const maxDemoNodes = 100

// flags are the flags of demo.
type flags struct {
	clusters, nodes int
	size            string
}

// Command returns the command demo.
func Command(a *command.App) *cobra.Command {
	var f flags
	return a.Command(command.Spec{
		Use: "demo", Short: "Run a whole grid on this machine", Long: help, Example: example, Flags: f.add, JSON: true,
		Run: func(ctx context.Context, a *command.App, _ []string) error {
			length, err := humanize.ParseBytes(f.size)
			if err != nil || length == 0 || length > 1<<40 {
				return command.Usagef("--size %q: must be a size such as 64MB", f.size)
			}
			if f.clusters < 1 || f.nodes < 1 || f.nodes > maxDemoNodes/f.clusters {
				return command.Usagef("--clusters and --nodes must be 1 or more, with at most %d nodes in total", maxDemoNodes)
			}
			return runDemo(ctx, a, f, int64(length))
		},
	})
}

func (f *flags) add(fl *pflag.FlagSet) {
	fl.IntVar(&f.clusters, "clusters", 3, "number of clusters, in addition to the source's")
	fl.IntVar(&f.nodes, "nodes", 3, "number of nodes in each cluster")
	fl.StringVar(&f.size, "size", "64MB", "size of the content")
}

func runDemo(ctx context.Context, a *command.App, f flags, length int64) (err error) {
	dir, err := os.MkdirTemp("", "mob-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	a.Note("a tracker, a source and %s of %s; %s of random data in %s",
		term.Plural(f.clusters, "cluster"), term.Plural(f.nodes, "node"), term.Bytes(length), dir)
	grid, err := newGrid(dir, f.clusters, f.nodes)
	defer func() { err = errors.Join(err, grid.close()) }()
	if err != nil {
		return err
	}
	if err := grid.seed(ctx, length); err != nil {
		return err
	}
	took, err := grid.transfer(ctx, a)
	if err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	a.Note("all nodes are complete after %s; comparing the copies", term.Duration(took))
	r, err := grid.receipt(ctx, took)
	if err != nil {
		return err
	}
	if r.Intact < r.Nodes {
		err = fmt.Errorf("%d of %d copies are damaged", r.Nodes-r.Intact, r.Nodes)
	}
	return errors.Join(a.Print(r, r.print), err)
}

// transfer sends the content to every node and shows the progress.
func (g *grid) transfer(ctx context.Context, a *command.App) (took time.Duration, err error) {
	if err := g.get(); err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- g.wait(ctx) }()
	p := a.Screen(false)
	p.Interval = time.Second
	tick := time.NewTicker(term.DrawInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.Show(g.frame())
		case err := <-done:
			if err != nil {
				p.Clear()
				return 0, err
			}
			last := g.frame()
			p.Keep(last)
			return last.took, nil
		}
	}
}
