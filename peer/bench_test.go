package peer_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
	"golang.org/x/sys/unix"
)

// benchSize is the content of BenchmarkLoopback, in bytes.
const benchSize = 1 << 30

// BenchmarkLoopback fetches a file in the page cache from another node in the same process. It reports GB/s and the
// CPU seconds of both nodes per GB.
func BenchmarkLoopback(b *testing.B) { benchLoopback(b, peer.SeedOptions{}) }

// BenchmarkLoopbackCoded does so with a coded transfer.
func BenchmarkLoopbackCoded(b *testing.B) {
	for _, k := range []int{16, 32, 64} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) { benchLoopback(b, peer.SeedOptions{Coded: k}) })
	}
}

func benchLoopback(b *testing.B, opt peer.SeedOptions) {
	path, _ := peertest.RandomFile(b, benchSize)
	a := peertest.Start(b, "A")
	seed, err := a.Seed(context.Background(), path, opt)
	if err != nil {
		b.Fatal(err)
	}
	link := seed.Link()
	b.SetBytes(benchSize)
	var wall, cpu float64
	copied := filepath.Join(b.TempDir(), "copy")
	for b.Loop() {
		n := peertest.Start(b, "B")
		warmMemory(b, benchSize)
		began, used := time.Now(), cpuSeconds(b)
		get, err := n.Get(link, copied, peer.GetOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if err := get.Wait(context.Background()); err != nil {
			b.Fatal(err)
		}
		wall += time.Since(began).Seconds()
		cpu += cpuSeconds(b) - used
		if err := errors.Join(n.Close(), os.Remove(copied)); err != nil {
			b.Fatal(err)
		}
	}
	moved := float64(b.N) * benchSize / 1e9
	b.ReportMetric(moved/wall, "GB/s")
	b.ReportMetric(cpu/moved, "cpu-s/GB")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkGrid fetches a file in the page cache to the 15 other nodes of four clusters of four, in the same process.
// It reports the CPU seconds of all nodes per GB of one node, and the peak of the Go heap.
func BenchmarkGrid(b *testing.B) {
	for _, k := range []int{0, 16} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) { benchGrid(b, k) })
	}
}

func benchGrid(b *testing.B, k int) {
	const size = 128 << 20
	var cpu, moved float64
	for b.Loop() {
		nodes := peertest.Clusters(b, 4, 4)
		_, link, content := peertest.SeedRandom(b, nodes[0], size, peer.SeedOptions{Coded: k})
		warmMemory(b, size*(len(nodes)-1))
		used := cpuSeconds(b)
		gets := peertest.GetAll(b, nodes[1:], link)
		for _, g := range gets {
			peertest.Wait(b, g)
		}
		cpu, moved = cpu+cpuSeconds(b)-used, moved+float64(len(gets)*len(content))/1e9
		for _, n := range nodes {
			if err := n.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(cpu/moved, "cpu-s/GB")
	b.ReportMetric(0, "ns/op")
}

// warmMemory makes the kernel's free memory real: on a virtual machine the first
// touch of a page costs more than all of mob, for any program that writes a file.
func warmMemory(b *testing.B, n int) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "warm")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	chunk := make([]byte, 32<<10) // as a daemon writes: the kernel keeps memory by the size of its use
	for range n / len(chunk) {
		if _, err := f.Write(chunk); err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(f.Close(), os.Remove(path)); err != nil {
		b.Fatal(err)
	}
}

func cpuSeconds(b *testing.B) float64 {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// BenchmarkBytes seeds 1 MB from memory, and gets it at another node.
func BenchmarkBytes(b *testing.B) {
	from, to := peertest.Start(b, "A"), peertest.Start(b, "B")
	content := make([]byte, 1e6)
	for i := range b.N {
		binary.LittleEndian.PutUint64(content, uint64(i)) // other content
		seed, err := from.SeedBytes("bytes", content, peer.SeedOptions{})
		if err != nil {
			b.Fatal(err)
		}
		link := *seed.Link()
		if got, err := to.GetBytes(b.Context(), &link, 1e6); err != nil || !bytes.Equal(got, content) {
			b.Fatal(err)
		}
	}
}
