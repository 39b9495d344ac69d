package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// sampleEvery is the time between two looks at the counters.
const sampleEvery = 250 * time.Millisecond

// measurement is one run while it is measured.
type measurement struct {
	bench  *Bench
	system System
	grid   *netns.Grid
	result *Run

	// Of the goroutine that samples, until measure has waited for it.
	samples []sample

	// mu guards what follows.
	mu     sync.Mutex
	whole  map[Receiver]time.Duration
	killed map[Receiver]bool
}

// show tells of a stage.
func (m *measurement) show(stage string, took time.Duration) {
	if m.bench.Show == nil {
		return
	}
	p := Progress{System: m.system.Name(), Stage: stage, Took: took}
	if stage == fetching {
		m.mu.Lock()
		p.Whole, p.Receivers = len(m.whole), len(m.bench.Receivers())
		m.mu.Unlock()
	}
	m.bench.Show(p)
}

// fetching is the name of the stage that is measured.
const fetching = "fetching"

// measure has a prepared system fetch and fills in the result. What is counted is
// read as soon as the last receiver is whole.
func (m *measurement) measure(ctx context.Context, tr Transfer) error {
	m.whole, m.killed = map[Receiver]time.Duration{}, map[Receiver]bool{}
	limit := m.bench.Limit()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done in %v", limit.Round(time.Second)))
	defer cancel()
	before, err := m.wan()
	if err != nil {
		return err
	}
	busy, all, machineErr := machineTime()
	start := time.Now()
	err = m.fetch(ctx, tr, start)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if busyAfter, allAfter, err := machineTime(); err == nil && machineErr == nil && allAfter > all {
		m.result.Machine = (busyAfter - busy) / (allAfter - all)
	}
	after, counters := m.wan()
	for i, name := range m.bench.Names() {
		if counters == nil && len(m.bench.Clusters) > 1 {
			m.result.Copies = append(m.result.Copies, NewClusterCopies(name, after[i].Sub(before[i]), m.bench.Size))
		}
	}
	return errors.Join(err, counters, m.times())
}

// fetch runs the system with all that goes on beside it, and returns when that has
// ended too.
func (m *measurement) fetch(ctx context.Context, tr Transfer, start time.Time) error {
	beside, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	errs := make([]error, 3)
	wg.Go(func() { errs[0] = m.play(beside) })
	wg.Go(func() { errs[1] = m.kill(beside, tr) })
	wg.Go(func() { errs[2] = m.sample(beside, start) })
	enough, end := context.WithCancelCause(ctx)
	defer end(nil)
	err := tr.Fetch(enough, func(n *netns.Node) {
		if m.isWhole(n, time.Since(start)) {
			end(errSlowOnly)
		}
	})
	if errors.Is(context.Cause(enough), errSlowOnly) {
		err = nil
	}
	stop()
	wg.Wait()
	return errors.Join(append(errs, err)...)
}

// errSlowOnly ends the fetching when those are left for whom nobody waits.
var errSlowOnly = errors.New("only slow nodes are left")

// isWhole notes a whole receiver, and says whether only slow ones are left.
func (m *measurement) isWhole(n *netns.Node, after time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := Receiver{n.Cluster, n.Index}
	if _, again := m.whole[r]; !again {
		m.whole[r] = after
	}
	slow := false
	for _, r := range m.bench.Receivers() {
		if _, whole := m.whole[r]; whole || m.killed[r] {
			continue
		}
		if !m.bench.Slow(r) {
			return false
		}
		slow = true
	}
	return slow
}

// play changes the links. Those that do not change are as the grid was made.
func (m *measurement) play(ctx context.Context) error {
	if _, until := m.bench.Scenario.Rates(0); until == netns.Forever {
		return nil
	}
	return m.grid.Play(ctx, m.bench.Scenario)
}

// kill kills whose turn it is, until the fetching is over.
func (m *measurement) kill(ctx context.Context, tr Transfer) error {
	start := time.Now()
	for _, v := range m.bench.Victims() {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Until(start.Add(v.At))):
		}
		m.mu.Lock()
		m.killed[v.Receiver] = true
		m.mu.Unlock()
		if err := tr.Kill(m.grid.Node(v.Cluster, v.Index)); err != nil {
			return fmt.Errorf("kill %v: %w", v.Receiver, err)
		}
	}
	return nil
}

// sample reads the links' counters now and then, and once more at the end.
func (m *measurement) sample(ctx context.Context, start time.Time) error {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		carried, err := m.carried()
		if err != nil {
			return err
		}
		m.samples = append(m.samples, sample{time.Since(start), carried})
		m.show(fetching, time.Since(start))
		if ctx.Err() != nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

func (m *measurement) carried() (map[link]netns.Count, error) {
	read := m.grid.LinkBytes
	if one := m.bench.Clusters; len(one) == 1 {
		read = func() ([]netns.LinkBytes, error) { return m.grid.NICBytes(one[0].Name) }
	}
	all, err := read()
	counts := make(map[link]netns.Count, len(all))
	for _, l := range all {
		counts[link{l.From, l.To}] = l.Count
	}
	return counts, err
}

// wan is what every cluster has received from others.
func (m *measurement) wan() ([]netns.Count, error) {
	var all []netns.Count
	for _, name := range m.bench.Names() {
		n, err := m.grid.WAN(name)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// times fills in who was whole when, and which links stood idle till then.
func (m *measurement) times() error {
	c, r := &m.bench.Case, m.result
	var counted []time.Duration
	missing := 0
	cluster := map[string]time.Duration{} // when all of it was whole
	for _, n := range c.Receivers() {
		at, whole := m.whole[n]
		if whole {
			r.Finished[n.String()] = at.Seconds()
		}
		switch {
		case m.killed[n]:
			r.Killed = append(r.Killed, n.String())
			continue
		case c.Slow(n):
			r.Slow = append(r.Slow, n.String())
			continue
		case whole:
			counted = append(counted, at)
		default:
			missing++
			at = netns.Forever
		}
		cluster[n.Cluster] = max(cluster[n.Cluster], at)
	}
	end := netns.Forever
	for _, name := range c.Names()[1:] {
		if at, ok := cluster[name]; ok {
			end = min(end, at)
		}
	}
	if len(c.Clusters) == 1 && len(counted) > 0 {
		end = slices.Min(counted)
	}
	r.Links, r.Use = c.linkReports(m.samples, end)
	r.finish(counted, c.Size)
	if missing > 0 {
		return fmt.Errorf("%d of %d receivers are not whole", missing, missing+len(counted))
	}
	return nil
}

// compare counts the copies that are as the original. Those of nodes that were
// killed are not looked at.
func (m *measurement) compare(ctx context.Context, tr Transfer) error {
	for _, n := range m.bench.Receivers() {
		if _, whole := m.whole[n]; !whole || m.killed[n] {
			continue
		}
		m.result.Copied++
		same, err := sameContent(ctx, m.bench.content, tr.Copy(m.grid.Node(n.Cluster, n.Index)))
		if err := ctx.Err(); err != nil {
			return err
		}
		if same && err == nil { // a copy that cannot be read is none
			m.result.Intact++
		}
	}
	return nil
}
