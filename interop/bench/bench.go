package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// Bench runs systems on a case, one at a time.
type Bench struct {
	Case
	// Show is called with the progress at the start of each stage and several times a second
	// during the fetching, one call at a time. Nil: not called.
	Show func(progress string)

	dir     string
	content string
	cold    bool // runs do not warm the memory
}

func (b *Bench) show(progress string) {
	if b.Show != nil {
		b.Show(progress)
	}
}

// NewBench validates the case and makes the content, in a new directory below dir that Close
// removes. An empty dir is the default for temporary files.
func NewBench(ctx context.Context, c Case, dir string) (*Bench, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(dir, "mob-bench-")
	if err != nil {
		return nil, err
	}
	b := &Bench{Case: c, dir: dir, content: filepath.Join(dir, "content")}
	if err := writeContent(ctx, b.content, c.Size, c.Seed); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Close removes all files.
func (b *Bench) Close() error { return os.RemoveAll(b.dir) }

// NewReport makes a report for runs of the bench.
func (b *Bench) NewReport() *Report {
	r := NewReport(&b.Case)
	r.TCPShare, r.Made = netns.TCPShare, NewMade()
	return r
}

// Run measures a system on its own grid. An error is in the result.
func (b *Bench) Run(ctx context.Context, sys System) *Run {
	m := &measurement{bench: b, system: sys, result: &Run{Finished: map[string]float64{}}}
	if err := b.run(ctx, m); err != nil {
		m.result.Error = err.Error()
	}
	return m.result
}

func (b *Bench) run(ctx context.Context, m *measurement) (err error) {
	dir, err := os.MkdirTemp(b.dir, "run-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if !b.cold {
		b.show("warming memory")
		// Using more than half of the available memory would evict caches.
		warm := min(int64(len(b.Receivers())+1)*b.Size, availableMemory()/2)
		if err := warmMemory(ctx, dir, warm); err != nil {
			return err
		}
	}
	c := b.Config
	c.Links, _ = b.Scenario(0)
	grid, err := netns.New(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, grid.Close()) }()
	m.grid = grid
	b.show("preparing")
	tr, err := b.prepare(ctx, m.system, b.site(grid, dir))
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	err = m.measure(ctx, tr)
	used, closed := tr.Close()
	m.result.CPU, m.result.Peak = used.CPU.Seconds(), used.Peak
	b.show("comparing copies")
	err = errors.Join(err, closed, m.compare(ctx, tr)) // after a failure too
	if delivered := float64(m.result.Copied) * float64(b.Size); delivered > 0 {
		m.result.CPUPerGB = m.result.CPU / (delivered / 1e9)
	}
	return err
}

// prepare prepares a system. It gives up after two minutes, and one more for each GB that is
// hashed.
func (b *Bench) prepare(ctx context.Context, sys System, site Site) (Transfer, error) {
	limit := 2*time.Minute + time.Duration(b.Size/1e9)*time.Minute
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not ready after %v", limit))
	defer cancel()
	tr, err := sys.Prepare(ctx, site)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return tr, err
}

// site is the grid's nodes for a system.
func (b *Bench) site(grid *netns.Grid, dir string) Site {
	s := Site{Grid: grid, Case: &b.Case, Content: b.content, Dir: dir, Source: grid.Node(b.Clusters[0].Name, 0)}
	for _, r := range b.Receivers() {
		s.Receivers = append(s.Receivers, grid.Node(r.Cluster, r.Index))
	}
	return s
}
