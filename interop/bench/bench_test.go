package bench

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// courier is a system that writes copies without a network, one every 50 ms. Its fields
// are faults for tests.
type courier struct {
	damaged string // the node whose copy is damaged
	never   string // the node that gets no copy
	endless string // the node that gets no copy, for which Fetch waits
	fails   error  // of Prepare
	begins  func() // called when the fetching begins, if not nil
	kills   int    // the number of kills that Fetch waits for
}

func (c courier) Name() string   { return "courier" }
func (c courier) Missing() error { return nil }

func (c courier) Prepare(_ context.Context, s Site) (Transfer, error) {
	d := &delivery{courier: c, site: s}
	d.toKill.Add(c.kills)
	return d, c.fails
}

type delivery struct {
	courier
	site Site

	toKill sync.WaitGroup

	mu     sync.Mutex
	killed []*netns.Node
}

func (d *delivery) Copy(n *netns.Node) string { return filepath.Join(d.site.Dir, n.Name()) }

func (d *delivery) Fetch(ctx context.Context, complete func(n *netns.Node)) error {
	if d.begins != nil {
		d.begins()
	}
	d.toKill.Wait()
	for _, n := range d.site.Receivers {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
		name := n.Name()
		d.mu.Lock()
		skip := slices.Contains(d.killed, n) || name == d.never || name == d.endless
		d.mu.Unlock()
		if skip {
			continue
		}
		content, err := os.ReadFile(d.site.Content)
		if err != nil {
			return err
		}
		if name == d.damaged {
			content[len(content)/2] ^= 1
		}
		if err := os.WriteFile(d.Copy(n), content, 0o600); err != nil {
			return err
		}
		complete(n)
	}
	if d.endless != "" {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func (d *delivery) Kill(n *netns.Node) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.killed = append(d.killed, n)
	d.toKill.Done()
	return nil
}

func (d *delivery) Close() (netns.Usage, error) {
	return netns.Usage{CPU: time.Second, Peak: 1e6}, nil
}

// runCourier runs the courier on a grid, on a case that change has changed.
func runCourier(ctx context.Context, t *testing.T, change func(c *Case), s courier) *Run {
	t.Helper()
	needsGrid(t)
	c := testCase(t, "2x2", 300e3)
	if change != nil {
		change(&c)
	}
	dir := t.TempDir()
	b, err := NewBench(ctx, c, dir)
	if err != nil {
		t.Fatal(err)
	}
	r := b.Run(ctx, s)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return r
}

func TestRun(t *testing.T) {
	t.Parallel()
	start := time.Now()
	r := runCourier(t.Context(), t, nil, courier{})
	took := time.Since(start).Seconds()
	if r.Error != "" || r.Intact != 3 || r.Copied != 3 || len(r.Finished) != 3 || r.CPU != 1 || r.Peak != 1e6 {
		t.Fatalf("%+v", r)
	}
	if r.Last < 0.15 || r.Last > took || r.Median < 0.1 || r.Median >= r.Last || !near(r.Rate*r.Last/300e3, 1) {
		t.Errorf("%+v", r)
	}
	if len(r.Copies) != 2 || r.Copies[1].Copies > 0.1 || len(r.Links) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestRunOfOneCluster(t *testing.T) {
	t.Parallel()
	one := func(c *Case) {
		c.Clusters = []netns.Cluster{{Name: "A", Nodes: 3, NIC: 10 * netns.MBps}}
		c.Scenario = netns.Steady(netns.Links{})
	}
	r := runCourier(t.Context(), t, one, courier{})
	if r.Error != "" || r.Intact != 2 || len(r.Copies) != 0 || len(r.Links) != 3 {
		t.Errorf("%+v", r)
	}
}

func TestRunOfRacks(t *testing.T) {
	t.Parallel()
	racks := func(c *Case) {
		for i := range c.Clusters {
			c.Clusters[i].Racks, c.Clusters[i].Uplink = []int{1, 1}, 10*netns.MBps
		}
	}
	r := runCourier(t.Context(), t, racks, courier{})
	if r.Error != "" || r.Intact != 3 || len(r.Copies) != 2 || len(r.RackCopies) != 4 || len(r.Links) != 9 {
		t.Fatalf("%+v", r)
	}
	if c := r.RackCopies[3]; c.Cluster != "B/r2" || c.Copies > 0.1 {
		t.Errorf("%+v", c)
	}
}

func TestRunFindsDamage(t *testing.T) {
	t.Parallel()
	if r := runCourier(t.Context(), t, nil, courier{damaged: "B1"}); r.Error != "" || r.Intact != 2 || r.Copied != 3 {
		t.Errorf("%+v", r)
	}
}

func TestRunMissesNodes(t *testing.T) {
	t.Parallel()
	r := runCourier(t.Context(), t, nil, courier{never: "B0"})
	if r.Error != "1 of 3 receivers are not complete" || r.Copied != 2 {
		t.Errorf("%+v", r)
	}
	slow := func(c *Case) { c.Clusters[1].SlowNIC = map[int]netns.Rate{0: netns.MBps} }
	r = runCourier(t.Context(), t, slow, courier{never: "B0"})
	if r.Error != "" || !slices.Equal(r.Slow, []string{"B0"}) || r.Copied != 2 {
		t.Errorf("a slow node is missed: %+v", r)
	}
}

// A run does not wait for slow nodes.
func TestRunEndsBeforeSlowNodes(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	slow := func(c *Case) { c.Clusters[1].SlowNIC = map[int]netns.Rate{0: netns.MBps} }
	if r := runCourier(ctx, t, slow, courier{endless: "B0"}); r.Error != "" || r.Copied != 2 || len(r.Finished) != 2 {
		t.Errorf("%+v", r)
	}
}

func TestRunKills(t *testing.T) {
	t.Parallel()
	r := runCourier(t.Context(), t, func(c *Case) { c.Kills = Kills{Percent: 60} }, courier{kills: 2})
	if r.Error != "" || len(r.Killed) != 2 || r.Copied != 1 || r.Intact != 1 {
		t.Errorf("%+v", r)
	}
}

func TestRunReportsFailure(t *testing.T) {
	t.Parallel()
	if r := runCourier(t.Context(), t, nil, courier{fails: io.ErrUnexpectedEOF}); r.Error != "prepare: unexpected EOF" {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := func() { cancel(errors.New("that is enough")) }
	if r := runCourier(ctx, t, nil, courier{begins: enough}); r.Error == "" {
		t.Errorf("%+v", r)
	}
}
