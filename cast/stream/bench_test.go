package stream_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mobgrid/mob/peer"
)

// benchSize is the size of the streams of benchmarks, in bytes.
const benchSize = 512 << 20

// usage reports the time and the CPU seconds since it was called first.
func usage(b *testing.B) func() (wall, cpu float64) {
	b.Helper()
	read := func() float64 {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	}
	began, used := time.Now(), read()
	return func() (float64, float64) { return time.Since(began).Seconds(), read() - used }
}

// benchFile makes a file of random bytes.
func benchFile(b *testing.B) (path string) {
	path = filepath.Join(b.TempDir(), "content")
	f, err := os.Create(path)
	check(b, err)
	_, err = io.Copy(f, random(benchSize))
	check(b, err)
	check(b, f.Close())
	return path
}

// BenchmarkStream sends a stream to receivers of one cluster in the same process, and reports the
// seconds, the CPU seconds and the records.
func BenchmarkStream(b *testing.B) {
	for _, receivers := range []int{1, 4, 16} {
		b.Run(fmt.Sprint(receivers), func(b *testing.B) {
			for b.Loop() {
				c := newCast(b, nil)
				var outs []<-chan outcome
				for range receivers {
					outs = append(outs, c.start(c.join("A", nil), io.Discard))
				}
				f, err := os.Open(benchFile(b))
				check(b, err)
				defer f.Close()
				used := usage(b)
				_, err = c.run(f)
				check(b, err)
				for _, out := range outs {
					check(b, (<-out).err)
				}
				wall, cpu := used()
				b.ReportMetric(wall, "s")
				b.ReportMetric(cpu, "cpu-s")
				b.ReportMetric(float64(c.count()), "records")
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				b.ReportMetric(float64(m.HeapSys)/1e6, "MB-heap")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkGet moves a file of the same bytes from a seed to as many nodes.
func BenchmarkGet(b *testing.B) {
	for _, receivers := range []int{1, 4, 16} {
		b.Run(fmt.Sprint(receivers), func(b *testing.B) {
			for b.Loop() {
				benchGet(b, receivers)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func benchGet(b *testing.B, receivers int) {
	source, _ := startCaster(b)
	path := benchFile(b)
	var nodes []*peer.Node
	for range receivers {
		nodes = append(nodes, startNode(b, "A"))
	}
	used := usage(b)
	t, err := source.Seed(context.Background(), path, peer.SeedOptions{})
	check(b, err)
	link := *t.Link()
	link.Trackers = source.Addrs()
	var all sync.WaitGroup
	for _, n := range nodes {
		all.Go(func() {
			out := filepath.Join(b.TempDir(), n.Host().ID().String())
			l := link
			get, err := n.Get(&l, out, peer.GetOptions{})
			if err == nil {
				err = get.Wait(context.Background())
			}
			if err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	wall, cpu := used()
	b.ReportMetric(wall, "s")
	b.ReportMetric(cpu, "cpu-s")
}
