package peer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mobgrid/mob/peer"
	"github.com/mobgrid/mob/peer/peertest"
)

// BenchmarkSmallFiles fetches 50,000 files of 4 kB in 100 directories from another node in
// the same process. It reports the seconds until the copy is complete, and until
// it is flushed, and the CPU seconds of both nodes, and the same for rsync, if it is installed, and cp,
// which do not flush.
func BenchmarkSmallFiles(b *testing.B) {
	from, to := b.TempDir(), b.TempDir()
	path := filepath.Join(from, "content")
	writeSmallFiles(b, path, 100, 500, 4096)
	a := peertest.Start(b, "A")
	seed, err := a.Seed(context.Background(), path, peer.SeedOptions{})
	if err != nil {
		b.Fatal(err)
	}
	copied := filepath.Join(to, "copy")
	var complete, flushed, cpu, rsync, cp float64
	for b.Loop() {
		rsync += copySeconds(b, copied, "rsync", "-a", "--inplace", path+"/", copied)
		cp += copySeconds(b, copied, "cp", "-a", path, copied)
		n := peertest.Start(b, "B")
		began, used := time.Now(), cpuSeconds(b)
		get, err := n.Get(seed.Link(), copied, peer.GetOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if err := get.Wait(context.Background()); err != nil {
			b.Fatal(err)
		}
		complete += time.Since(began).Seconds()
		cpu += cpuSeconds(b) - used
		if err := get.Flush(context.Background()); err != nil {
			b.Fatal(err)
		}
		flushed += time.Since(began).Seconds()
		if err := errors.Join(n.Close(), os.RemoveAll(copied)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(complete/float64(b.N), "s")
	b.ReportMetric(flushed/float64(b.N), "s-flushed")
	b.ReportMetric(cpu/float64(b.N), "cpu-s")
	b.ReportMetric(rsync/float64(b.N), "rsync-s")
	b.ReportMetric(cp/float64(b.N), "cp-s")
	b.ReportMetric(0, "ns/op")
}

// writeSmallFiles writes files of one size to directories below a path.
func writeSmallFiles(b *testing.B, path string, dirs, files, size int) {
	b.Helper()
	random := rand.NewChaCha8([32]byte{1})
	content := make([]byte, size)
	for d := range dirs {
		dir := filepath.Join(path, fmt.Sprintf("folder%03d", d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range files {
			_, _ = random.Read(content) // never fails
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%04d", f)), content, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// copySeconds returns how long a command takes that copies to a path, 0 if it is not installed. It
// removes the copy.
func copySeconds(b *testing.B, to, name string, arg ...string) float64 {
	b.Helper()
	if _, err := exec.LookPath(name); err != nil {
		return 0
	}
	began := time.Now()
	if out, err := exec.Command(name, arg...).CombinedOutput(); err != nil {
		b.Fatalf("%s: %v: %s", name, err, out)
	}
	took := time.Since(began).Seconds()
	if err := os.RemoveAll(to); err != nil {
		b.Fatal(err)
	}
	return took
}
