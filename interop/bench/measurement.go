package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// watchEvery is the interval between two looks at the progress.
const watchEvery = 250 * time.Millisecond

// measurement is a run in progress.
type measurement struct {
	bench  *Bench
	system System
	grid   *netns.Grid
	result *Run

	// mu guards what follows.
	mu        sync.Mutex
	completed map[Receiver]time.Duration
	killed    map[Receiver]bool
}

// complete returns the number of complete receivers.
func (m *measurement) complete() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.completed)
}

// measure runs a prepared transfer and fills in the result. It reads counters as soon as the
// last receiver is complete.
func (m *measurement) measure(ctx context.Context, tr Transfer) error {
	m.completed, m.killed = map[Receiver]time.Duration{}, map[Receiver]bool{}
	limit := m.bench.Limit()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done in %v", limit.Round(time.Second)))
	defer cancel()
	before, err := m.carried()
	if err != nil {
		return err
	}
	share := MachineShare()
	start := time.Now()
	err = m.fetch(ctx, tr, start)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	m.result.Machine = share()
	after, counters := m.carried()
	if counters == nil {
		m.countCopies(before, after)
		m.result.Links = m.bench.linkReports(before, after, time.Since(start))
	}
	return errors.Join(err, counters, m.result.setTimes(&m.bench.Case, m.completed, m.killed))
}

// countCopies fills in what entered clusters and racks between two readings of carried.
func (m *measurement) countCopies(before, after map[link]netns.Count) {
	copies := func(to string, from ...string) ClusterCopies {
		var n netns.Count
		for _, f := range from {
			n = n.Add(after[link{f, to}].Sub(before[link{f, to}]))
		}
		return newClusterCopies(to, n, m.bench.Size)
	}
	for _, cl := range m.bench.Clusters {
		if !m.bench.single() {
			m.result.Copies = append(m.result.Copies, copies(cl.Name, m.bench.Names()...))
		}
		for r := range cl.Racks {
			m.result.RackCopies = append(m.result.RackCopies, copies(cl.RackName(r), cl.Name))
		}
	}
}

// fetch runs the transfer, while the scenario is played, nodes are killed and the progress
// is watched.
func (m *measurement) fetch(ctx context.Context, tr Transfer, start time.Time) error {
	sideCtx, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	errs := make([]error, 3)
	wg.Go(func() { errs[0] = m.grid.Play(sideCtx, m.bench.Scenario) })
	wg.Go(func() { errs[1] = m.kill(sideCtx, tr) })
	fetchCtx, end := context.WithCancelCause(ctx)
	defer end(nil)
	wg.Go(func() { errs[2] = m.watch(sideCtx, start, end) })
	err := tr.Fetch(fetchCtx, func(n *netns.Node) {
		if m.addComplete(n, time.Since(start)) {
			end(errSlowOnly)
		}
	})
	switch why := context.Cause(fetchCtx); {
	case errors.Is(why, errSlowOnly):
		err = nil
	case errors.Is(why, errStalled):
		err = why
	}
	stop()
	wg.Wait()
	return errors.Join(append(errs, err)...)
}

// errSlowOnly ends the fetching when only slow nodes are left.
var errSlowOnly = errors.New("only slow nodes are left")

// errStalled ends the fetching when nothing moves: some stock clients wait for ever.
var errStalled = errors.New("no progress")

// stallTimeout is the time in which a receiver must complete, or a hundredth of the content be carried by links.
const stallTimeout = 2 * time.Minute

// stall notices that nothing moves.
type stall struct {
	bytes    uint64
	complete int
	at       time.Duration
}

// check returns errStalled if there was no progress for too long.
func (s *stall) check(bytes uint64, complete int, size int64, now time.Duration) error {
	if bytes-s.bytes > uint64(size)/100 || complete > s.complete {
		*s = stall{bytes, complete, now}
	}
	if now-s.at < stallTimeout {
		return nil
	}
	return fmt.Errorf("%w for %v with %d receivers complete", errStalled, stallTimeout, complete)
}

// addComplete records a complete receiver. It reports whether only slow nodes are left.
func (m *measurement) addComplete(n *netns.Node, after time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := Receiver{n.Cluster, n.Index}
	if _, again := m.completed[r]; !again {
		m.completed[r] = after
	}
	slow := false
	for _, r := range m.bench.Receivers() {
		if _, complete := m.completed[r]; complete || m.killed[r] {
			continue
		}
		if !m.bench.Slow(r) {
			return false
		}
		slow = true
	}
	return slow
}

// kill kills each victim at its time, until ctx ends.
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

// watch shows the progress until ctx ends. It calls end if nothing moves.
func (m *measurement) watch(ctx context.Context, start time.Time, end func(error)) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for stalled := (stall{}); ctx.Err() == nil; {
		carried, err := m.carried()
		if err != nil {
			return err
		}
		now, complete := time.Since(start), m.complete()
		m.bench.show(fmt.Sprintf("fetching for %.1f s, %d of %d nodes complete", now.Seconds(), complete, len(m.bench.Receivers())))
		bytes := uint64(0)
		for _, n := range carried {
			bytes += n.Bytes
		}
		if err := stalled.check(bytes, complete, m.bench.Size, now); err != nil {
			end(err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// carried reads the counters of the links between clusters, or of a single cluster's NICs, and
// the counters of uplinks.
func (m *measurement) carried() (map[link]netns.Count, error) {
	read := m.grid.LinkBytes
	if m.bench.single() {
		read = func() ([]netns.LinkBytes, error) { return m.grid.NICBytes(m.bench.Clusters[0].Name) }
	}
	all, err := read()
	uplinks, uplinkErr := m.grid.UplinkBytes()
	counts := make(map[link]netns.Count, len(all)+len(uplinks))
	for _, l := range append(all, uplinks...) {
		counts[link{l.From, l.To}] = l.Count
	}
	return counts, errors.Join(err, uplinkErr)
}

// compare compares the copies of nodes that were not killed with the original.
func (m *measurement) compare(ctx context.Context, tr Transfer) error {
	want, err := contentSum(ctx, m.bench.content)
	var copied []Receiver
	for _, n := range m.bench.Receivers() {
		if _, complete := m.completed[n]; complete && !m.killed[n] {
			copied = append(copied, n)
		}
	}
	var intact atomic.Int64
	_ = netns.Concurrently(len(copied), func(i int) error {
		got, failed := contentSum(ctx, tr.Copy(m.grid.Node(copied[i].Cluster, copied[i].Index)))
		if failed == nil && got == want { // a copy that cannot be read is damaged
			intact.Add(1)
		}
		return nil
	})
	m.result.Copied, m.result.Intact = len(copied), int(intact.Load())
	return errors.Join(err, ctx.Err())
}
