package bench

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/mobgrid/mob/interop/netns"
)

// observedMob is Mob with a test that observes its transfers. Functions that are nil are
// not called.
type observedMob struct {
	Mob
	t testing.TB
	// during is called while the daemons download, killed before a node is killed, and
	// after when all is over and the daemons still run.
	during, after func(tr *mobTransfer)
	killed        func(d *Daemon)
}

func (o *observedMob) Prepare(ctx context.Context, s Site) (Transfer, error) {
	tr, err := o.Mob.Prepare(ctx, s)
	if err != nil {
		return nil, err
	}
	return &observedTransfer{tr.(*mobTransfer), o}, nil
}

type observedTransfer struct {
	*mobTransfer
	by *observedMob
}

// Fetch calls during on the goroutine of the test, which it may end.
func (tr *observedTransfer) Fetch(ctx context.Context, complete func(n *netns.Node)) error {
	done := make(chan error, 1)
	go func() { done <- tr.mobTransfer.Fetch(ctx, complete) }()
	if tr.by.during != nil {
		tr.by.during(tr.mobTransfer)
	}
	return <-done
}

func (tr *observedTransfer) Kill(n *netns.Node) error {
	if tr.by.killed != nil {
		tr.by.killed(tr.receivers[n].(*Daemon))
	}
	return tr.mobTransfer.Kill(n)
}

func (tr *observedTransfer) Close() (netns.Usage, error) {
	if tr.by.after != nil && !tr.by.t.Failed() {
		tr.by.after(tr.mobTransfer)
	}
	if tr.by.t.Failed() {
		printLogs(tr.by.t, tr.mobTransfer)
	}
	return tr.mobTransfer.Close()
}

// all lists every daemon, the source first.
func (t *mobTransfer) all() []*Daemon { return append([]*Daemon{t.Source}, t.Daemons...) }

func printLogs(t testing.TB, tr *mobTransfer) {
	for _, d := range tr.all() {
		text, err := os.ReadFile(d.Log())
		if err != nil {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		t.Logf("%s:\n%s", d.Name(), strings.Join(lines[max(0, len(lines)-8):], "\n"))
	}
}

// fastGrid is a case with the links of scenario fast, on a grid.
func fastGrid(t testing.TB, clusters string, size int64, kills Kills) *Bench {
	t.Helper()
	needsGrid(t)
	return newFastGrid(t, clusters, size, kills)
}

func newFastGrid(t testing.TB, clusters string, size int64, kills Kills) *Bench {
	t.Helper()
	c := testCase(t, clusters, size)
	c.Kills = kills
	return newBench(t, c)
}

func newBench(t testing.TB, c Case) *Bench {
	t.Helper()
	b, err := NewBench(context.Background(), c, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, b.cold = t.(*testing.T) // benchmarks compare rates with other systems
	return b
}

// mustRun runs a system: every copy must be complete and intact, and no cluster receive
// more over the WAN than it needs.
func mustRun(t testing.TB, b *Bench, s System) *Run {
	t.Helper()
	r := mustRunWasteful(t, b, s)
	for _, c := range r.Copies {
		t.Log(c)
		if err := c.CheckContent(float64(len(r.Killed)) / float64(len(b.Receivers()))); err != nil {
			t.Error(err)
		}
	}
	return r
}

// mustRunWasteful is mustRun without a limit on what crosses the WAN.
func mustRunWasteful(t testing.TB, b *Bench, s System) *Run {
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

// TestSmallGrid runs the programs on the smallest grid that has a WAN and LANs, with an
// option of mob seed. It is the one test on a grid in short mode.
func TestSmallGrid(t *testing.T) {
	t.Parallel()
	needsNamespaces(t)
	o := &observedMob{Mob: Mob{Bin: bin(t), Options: []string{"piece-length=1MiB"}}, t: t}
	if o.Name() != "mob:piece-length=1MiB" {
		t.Error(o.Name())
	}
	o.after = func(tr *mobTransfer) {
		for _, d := range tr.Daemons {
			if st := d.status(t); st.PieceLength != 1<<20 {
				t.Errorf("%s has pieces of %d bytes", d.Name(), st.PieceLength)
			}
		}
	}
	// Other tests count copies: a second copy of one block is 2 % of this content.
	if r := mustRunWasteful(t, newFastGrid(t, "2x2", 6e6, Kills{}), o); r.CPUPerGB <= 0 {
		t.Errorf("%f s of CPU for each GB", r.CPUPerGB)
	}
}

// BenchmarkGridFast transfers 240 MB on the 4x4 grid: 0.80 of the bound is 9.6 MB/s.
// `mob-bench grid --systems mob` is the same with more details.
func BenchmarkGridFast(b *testing.B) {
	bn := fastGrid(b, "4x4", 240e6, Kills{})
	for b.Loop() {
		r := mustRun(b, bn, Mob{Bin: bin(b)})
		if source := r.Copies[0].Copies; source > 0.05 {
			b.Errorf("%.3f copies entered the source's cluster", source)
		}
		b.ReportMetric(r.Rate/1e6, "MB/s")
		b.ReportMetric(r.Rate/bn.NewReport().Bound, "of-bound")
		for _, c := range r.Copies {
			b.ReportMetric(c.Copies, "copies-"+c.Cluster)
		}
		b.ReportMetric(r.CPU, "cpu-s")
		b.ReportMetric(float64(r.Peak)/1e6, "MB-peak")
		b.ReportMetric(0, "ns/op")
	}
}
