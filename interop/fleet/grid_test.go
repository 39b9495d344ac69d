package fleet

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// broadcast sets a grid up and runs one transfer of size bytes on it.
func broadcast(t testing.TB, size int64, during func(b *Broadcast, start time.Time), nodes ...int) (*Broadcast, *Result) {
	t.Helper()
	f, names := newFleet(t, netns.Fast(), nodes...)
	b, err := Setup(f, names, content(t, size))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			b.dumpLogs(t)
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	var hook func(time.Time)
	if during != nil {
		hook = func(start time.Time) { during(b, start) }
	}
	r, err := b.Run(ctx, hook)
	if err != nil {
		t.Fatal(err)
	}
	return b, r
}

func (b *Broadcast) dumpLogs(t testing.TB) {
	t.Helper()
	for _, d := range append([]*Daemon{b.Source}, b.Daemons...) {
		text, err := os.ReadFile(d.Log())
		if err != nil {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		t.Logf("%s:\n%s", d.Name(), strings.Join(lines[max(0, len(lines)-8):], "\n"))
	}
}

// check fails the test on damaged copies and on what crossed the WAN too often.
func check(t testing.TB, b *Broadcast, r *Result) {
	t.Helper()
	if err := b.Intact(r); err != nil {
		t.Error(err)
	}
	for c, copies := range r.Copies {
		limit := 1.05
		if c == b.Source.Node.Cluster {
			limit = 0.05
		}
		if copies > limit {
			t.Errorf("%.3f copies crossed into %s, want at most %.2f", copies, c, limit)
		}
	}
}

// BenchmarkGridFast is the 4x4 grid with 240 MB: 0.80 of the bound is 9.6 MB/s.
func BenchmarkGridFast(b *testing.B) {
	const size = 240e6
	for b.Loop() {
		warmMemory(b, 16*size)
		bc, r := broadcast(b, size, nil, 4, 4, 4, 4)
		for name, err := range r.Errors {
			b.Errorf("%s: %v", name, err)
		}
		check(b, bc, r)
		bound := float64(netns.Bound(netns.Fast(), "A"))
		b.ReportMetric(r.Rate(size)/1e6, "MB/s")
		b.ReportMetric(r.Rate(size)/bound, "of-bound")
		for _, c := range []string{"A", "B", "C", "D"} {
			b.ReportMetric(r.Copies[c], "copies-"+c)
		}
		b.ReportMetric(r.CPU.Seconds(), "cpu-s")
		b.ReportMetric(float64(r.PeakMemory)/1e6, "MB-peak")
		b.ReportMetric(0, "ns/op")
	}
}
