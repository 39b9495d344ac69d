package fleet

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/netns"
)

// watched is the system with a test that looks on. What is nil is not called.
type watched struct {
	System
	t testing.TB
	// during runs while the others fetch, killed before a node is killed, after
	// when all is over and the daemons still run.
	during, after func(tr *Transfer)
	killed        func(d *Daemon)
}

func (w *watched) Prepare(ctx context.Context, s bench.Site) (bench.Transfer, error) {
	tr, err := w.System.Prepare(ctx, s)
	if err != nil {
		return nil, err
	}
	return &watchedTransfer{tr.(*Transfer), w}, nil
}

type watchedTransfer struct {
	*Transfer
	by *watched
}

// Fetch stays on the goroutine of the test, which during may end.
func (tr *watchedTransfer) Fetch(ctx context.Context, whole func(n *netns.Node)) error {
	done := make(chan error, 1)
	go func() { done <- tr.Transfer.Fetch(ctx, whole) }()
	if tr.by.during != nil {
		tr.by.during(tr.Transfer)
	}
	return <-done
}

func (tr *watchedTransfer) Kill(n *netns.Node) error {
	if tr.by.killed != nil {
		tr.by.killed(tr.gets[n].daemon)
	}
	return tr.Transfer.Kill(n)
}

func (tr *watchedTransfer) Close() (bench.Usage, error) {
	if tr.by.after != nil && !tr.by.t.Failed() {
		tr.by.after(tr.Transfer)
	}
	if tr.by.t.Failed() {
		tr.dumpLogs(tr.by.t)
	}
	return tr.Transfer.Close()
}

func (t *Transfer) dumpLogs(tt testing.TB) {
	for _, d := range t.all() {
		text, err := os.ReadFile(d.Log())
		if err != nil {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		tt.Logf("%s:\n%s", d.Name(), strings.Join(lines[max(0, len(lines)-8):], "\n"))
	}
}

// fast is a case on the fast grid.
func fast(t testing.TB, clusters string, size int64, kills bench.Kills) *bench.Bench {
	t.Helper()
	if err := netns.Available(); err != nil {
		t.Skip("no grid: ", err)
	}
	cl, err := bench.ParseClusters(clusters)
	if err != nil {
		t.Fatal(err)
	}
	c := bench.Case{Clusters: cl, Name: "fast", Size: size, Kills: kills, Seed: 1}
	c.Scenario = netns.Steady(netns.Fast().Among(c.Names()...))
	b, err := bench.NewBench(context.Background(), c, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// run measures a system that has to do well: every copy whole and intact, and no
// more over the WAN than it needs.
func run(t testing.TB, b *bench.Bench, s bench.System) *bench.Run {
	t.Helper()
	r := runWasteful(t, b, s)
	for _, c := range r.Copies {
		t.Log(c)
		if err := c.CheckContent(float64(len(r.Killed)) / float64(len(b.Receivers()))); err != nil {
			t.Error(err)
		}
	}
	return r
}

// runWasteful is run without a look at what crossed the WAN.
func runWasteful(t testing.TB, b *bench.Bench, s bench.System) *bench.Run {
	t.Helper()
	r := b.Run(context.Background(), s)
	if r.Error != "" {
		t.Fatal(r.Error)
	}
	if want := len(b.Receivers()) - len(r.Killed); r.Intact != want || len(r.Finished) != want {
		t.Errorf("%d copies are intact, of %v; want %d", r.Intact, r.Finished, want)
	}
	return r
}
