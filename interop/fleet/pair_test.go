package fleet

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/bench"
	"github.com/mobgrid/mob/interop/netns"
)

// pairSize is the content of BenchmarkPair, in bytes.
const pairSize = 4e9

// BenchmarkPair moves 4 GB between two daemons over the loopback of one node,
// with the content in the page cache: GB/s from the start of the get command to
// its end, CPU of both daemons, and the most memory that one of them had resident.
// plain-write is how fast this program writes a new file of that size, beside it:
// on a virtual machine that depends on whether its memory was used lately.
func BenchmarkPair(b *testing.B) {
	f, _ := newFleet(b, netns.Links{}, 1)
	node := f.Grid.Node("A", 0)
	path := content(b, pairSize)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	for b.Loop() {
		f.Dir = b.TempDir()
		source, err := f.StartNamed(node, "source", "A")
		if err != nil {
			b.Fatal(err)
		}
		sink, err := f.StartNamed(node, "sink", "B")
		if err != nil {
			b.Fatal(err)
		}
		link, err := source.Seed(ctx, path)
		if err != nil {
			b.Fatal(err)
		}
		written := time.Now()
		if err := bench.WarmMemory(ctx, b.TempDir(), pairSize); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(pairSize/1e9/time.Since(written).Seconds(), "plain-write-GB/s")
		before, err := source.CPU() // for hashing, which a get does not pay for
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if err := sink.Get(ctx, link); err != nil {
			b.Fatal(err)
		}
		took := time.Since(began)
		reportPair(b, source, sink, took, before)
		if err := os.Remove(sink.Out()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
}

func reportPair(b *testing.B, source, sink *Daemon, took, before time.Duration) {
	b.Helper()
	cpu, mem := -before, int64(0)
	for _, d := range []*Daemon{source, sink} {
		used, err := d.CPU()
		if err != nil {
			b.Fatal(err)
		}
		cpu += used
		_, peak, err := d.Memory()
		if err != nil {
			b.Fatal(err)
		}
		mem = max(mem, peak)
		if err := d.Stop(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(pairSize/1e9/took.Seconds(), "GB/s")
	b.ReportMetric(cpu.Seconds()/(pairSize/1e9), "cpu-s/GB")
	b.ReportMetric(float64(mem)/1e6, "MB-peak")
}
