package bench

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// pairSize is the content of BenchmarkPair, in bytes.
const pairSize = 4e9

// BenchmarkPair transfers 4 GB between two daemons over the loopback of one node, with the
// content in the page cache. It reports GB/s from the start of the get command to its end,
// the CPU of both daemons, and the higher of their peaks of resident memory. plain-write is
// how fast this program writes a new file of that size, for comparison: on a virtual
// machine that depends on whether its memory was used lately.
func BenchmarkPair(b *testing.B) {
	f, _ := newFleet(b, netns.Links{}, 1)
	node := f.Grid.Node("A", 0)
	path := randomContent(b, pairSize)
	result := pairReport()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	for b.Loop() {
		f.Dir = b.TempDir()
		source, sink := f.startAlone(b, node, "source"), f.startAlone(b, node, "sink")
		link, err := source.Seed(ctx, path)
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if err := warmMemory(ctx, b.TempDir(), pairSize); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(pairSize/1e9/time.Since(began).Seconds(), "plain-write-GB/s")
		hashing := source.usage(b).CPU
		began = time.Now()
		if err := sink.Get(ctx, link); err != nil {
			b.Fatal(err)
		}
		took := time.Since(began)
		used := source.usage(b)
		used.CPU -= hashing
		used.Add(sink.usage(b))
		for _, d := range []*Daemon{source, sink} {
			if err := d.Stop(); err != nil {
				b.Fatal(err)
			}
		}
		result.Add("mob", &Run{Rate: pairSize / took.Seconds(), CPUPerGB: used.CPU.Seconds() / (pairSize / 1e9)})
		b.ReportMetric(pairSize/1e9/took.Seconds(), "GB/s")
		b.ReportMetric(used.CPU.Seconds()/(pairSize/1e9), "cpu-s/GB")
		b.ReportMetric(float64(used.Peak)/1e6, "MB-peak")
		if err := os.Remove(sink.Out()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
	if err := appendResult(result); err != nil {
		b.Error(err)
	}
}

// pairReport is a report of BenchmarkPair without runs.
func pairReport() *Report {
	r := &Report{Made: NewMade(), Case: "loopback pair, 4 GB", Scenario: "pair", Clusters: []ClusterSize{{Name: "A", Nodes: 1}}, Bytes: pairSize}
	r.Made.Command = "go test -run '^$' -bench Pair ./interop/bench"
	return r
}

// appendResult appends a report to the file $MOB_RESULTS, if that is set.
func appendResult(r *Report) error {
	path := os.Getenv("MOB_RESULTS")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(writeJSON(f, r), f.Close())
}
