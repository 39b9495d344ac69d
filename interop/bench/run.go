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
	// Show, if not nil, is called about four times a second, and when a stage
	// begins; one call at a time.
	Show func(Progress)

	dir     string
	content string
}

// Progress is how far a run is.
type Progress struct {
	System string
	// Stage is in words, such as "fetching", Took the time in it.
	Stage string
	Took  time.Duration
	// Whole of Receivers have a copy; both are zero before the fetching.
	Whole, Receivers int
}

// String is the progress in words, without the system's name.
func (p Progress) String() string {
	if p.Receivers == 0 {
		return p.Stage
	}
	return fmt.Sprintf("%s for %.1f s, %d of %d nodes whole", p.Stage, p.Took.Seconds(), p.Whole, p.Receivers)
}

// NewBench makes the content, in a new folder below dir, which Close removes.
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

// Close removes what is on the disk.
func (b *Bench) Close() error { return os.RemoveAll(b.dir) }

// NewReport begins a report of runs on this grid.
func (b *Bench) NewReport() *Report {
	r := NewReport(&b.Case)
	r.TCPShare = netns.TCPShare
	return r
}

// Run measures a system on a grid of its own. What went wrong is in the result.
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
	m.show("warming memory", 0)
	// More than half of what there is would push out what others need.
	if err := warmMemory(ctx, dir, min(int64(len(b.Receivers())+1)*b.Size, availableMemory()/2)); err != nil {
		return err
	}
	links, _ := b.Scenario.Rates(0)
	grid, err := netns.New(netns.Config{Clusters: b.Clusters, Links: links, RTT: b.RTT})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, grid.Close()) }()
	m.grid = grid
	m.show("preparing", 0)
	tr, err := b.prepare(ctx, m.system, b.site(grid, dir))
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	err = m.measure(ctx, tr)
	used, closed := tr.Close()
	m.result.CPU, m.result.Peak = used.CPU.Seconds(), used.Peak
	m.show("comparing copies", 0)
	err = errors.Join(err, closed, m.compare(ctx, tr)) // copies are looked at after a failure too
	if delivered := float64(m.result.Copied) * float64(b.Size); delivered > 0 {
		m.result.CPUPerGB = m.result.CPU / (delivered / 1e9)
	}
	return err
}

// prepare prepares a system, and gives up on one that does not get ready: two
// minutes, and one for each GB that is to be hashed.
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

func (b *Bench) site(grid *netns.Grid, dir string) Site {
	s := Site{Grid: grid, Content: b.content, Dir: dir, Source: grid.Node(b.Clusters[0].Name, 0)}
	for _, r := range b.Receivers() {
		s.Receivers = append(s.Receivers, grid.Node(r.Cluster, r.Index))
	}
	return s
}
