package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/mobgrid/mob/cli/format"
	"github.com/mobgrid/mob/cli/grid"
)

const demoHelp = `Runs a whole grid in this process, on loopback: a tracker, a source, and clusters of
nodes, with real connections and real files in a temporary folder. The source's
random content goes to every node, and each copy is compared with the original.

The receipt shows what mob is for: the content enters each cluster about once (WAN
copies), and the nodes there have the rest from each other. Exit status 0 means that
all copies are intact.`

const demoExample = `  mob demo
  mob demo --clusters 4 --nodes 8 --size 256MB
  TMPDIR=/data/tmp mob demo --size 4GB`

// demoFlags say what grid to run.
type demoFlags struct {
	clusters, nodes int
	size            string
}

// demoLimit bounds the nodes of a demo: each has a host, sockets and goroutines.
const demoLimit = 100

func newDemo(g *global) *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use: "demo", Short: "Show a whole grid at work, on this machine", Long: demoHelp, Example: demoExample,
		Args: args(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			length, err := humanize.ParseBytes(f.size)
			if err != nil || length == 0 || length > 1<<40 {
				return wrong(cmd, "--size %q is no size such as 64MB", f.size)
			}
			if f.clusters < 1 || f.nodes < 1 || f.clusters*f.nodes > demoLimit {
				return wrong(cmd, "at least one cluster and one node in each, and at most %d nodes", demoLimit)
			}
			return g.demo(cmd.Context(), f, int64(length))
		},
	}
	cmd.Flags().IntVar(&f.clusters, "clusters", 3, "clusters besides the source's")
	cmd.Flags().IntVar(&f.nodes, "nodes", 3, "nodes in each cluster")
	cmd.Flags().StringVar(&f.size, "size", "64MB", "size of the content")
	g.jsonFlag(cmd)
	return cmd
}

func (g *global) demo(ctx context.Context, f demoFlags, length int64) (err error) {
	dir, err := os.MkdirTemp("", "mob-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	g.note("a tracker, a source and %s of %s; %s of random data in %s",
		format.Count(f.clusters, "cluster"), format.Count(f.nodes, "node"), format.Size(length), dir)
	content, err := grid.WriteRandom(ctx, dir, length)
	if err != nil {
		return err
	}
	gr, err := grid.New(dir, f.clusters, f.nodes, finder(slog.New(slog.DiscardHandler)))
	if err != nil {
		return errors.Join(err, gr.Close())
	}
	defer func() { err = errors.Join(err, gr.Close()) }()
	link, err := gr.Seed(ctx, content.Path)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := g.demoTransfer(ctx, gr, link); err != nil {
		return err
	}
	took := time.Since(began)
	g.note("every node is whole after %s; comparing the copies", format.Span(took))
	r, err := gr.Compare(ctx, content, took)
	if err != nil {
		return err
	}
	if g.json {
		err = format.JSON(g.Out, r)
	} else {
		err = r.Print(g.Out)
	}
	return errors.Join(err, r.Verdict())
}

// demoTransfer runs the transfer and draws it.
func (g *global) demoTransfer(ctx context.Context, gr *grid.Grid, link string) error {
	if err := gr.Get(link); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- gr.Wait(ctx) }()
	p := g.newProgress()
	p.every = lineSoon
	tick := time.NewTicker(drawEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.show(gridFrame{gr.State()})
		case err := <-done:
			if err != nil {
				p.clear()
				return fmt.Errorf("the transfer: %w", err)
			}
			p.keep(gridFrame{gr.State()})
			return nil
		}
	}
}
