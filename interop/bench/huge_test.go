package bench

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mobgrid/mob/interop/netns"
)

const (
	// hugeSize is content larger than any memory: 65,536 pieces.
	hugeSize = 1 << 40
	// hugePiece is the length of its pieces.
	hugePiece = 16 << 20
	// hugeTime is the time that the daemons of BenchmarkHuge download: what they download in
	// that time must fit on the disk.
	hugeTime = 20 * time.Second
	// hugeSinks is the number of daemons that download in BenchmarkHuge.
	hugeSinks = 4
)

// sparse makes a file of size bytes that is a hole, except for a page of random bytes in
// some of its pieces, evenly spread. Those pieces are hashed and sent like all other pieces; the
// rest takes neither time nor room.
func sparse(t testing.TB, size int64, pieces int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sparse.bin")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Skipf("no file of %d bytes: %v", size, err)
	}
	page := make([]byte, 4096)
	for i := range int64(pieces) {
		rand.Read(page)
		if _, err := f.WriteAt(page, size/hugePiece*i/int64(pieces)*hugePiece); err != nil {
			t.Fatal(err)
		}
	}
	if next, err := f.Seek(int64(len(page)), unix.SEEK_DATA); err != nil || next < hugePiece {
		t.Skipf("this file system does not report holes: data at %d, %v", next, err)
	}
	return path
}

// BenchmarkHuge serves 1 TiB and reports the resident memory of the daemon that does: idle,
// and at its peak, hashing and serving several daemons; and the highest peak of those that
// download. The content is sparse, with 1024 pieces of data (17 GB), of which as much is
// downloaded as 20 s allow.
func BenchmarkHuge(b *testing.B) {
	f, _ := newFleet(b, netns.Links{}, 1)
	path := sparse(b, hugeSize, 1024)
	ctx := b.Context()
	for b.Loop() {
		f.Dir = b.TempDir()
		source := f.startAlone(b, f.Grid.Node("A", 0), "source")
		link, err := source.Seed(ctx, path)
		if err != nil {
			b.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		idle := source.usage(b).Memory
		sinks := getAll(ctx, b, f, link)
		peak := source.usage(b).Peak
		var most, got int64
		for _, d := range sinks {
			most = max(most, d.usage(b).Peak)
			got += d.status(b).Traffic.WANIn
			stopAndRemove(b, d)
		}
		stopAndRemove(b, source)
		if got == 0 {
			b.Error("nothing was served")
		}
		b.ReportMetric(float64(idle)/1e6, "MB-idle")
		b.ReportMetric(float64(peak)/1e6, "MB-peak")
		b.ReportMetric(float64(most)/1e6, "MB-fetching")
		b.ReportMetric(float64(got)/1e9, "GB-fetched")
	}
	b.ReportMetric(0, "ns/op")
}

// getAll has daemons, each in its own cluster, download for hugeTime.
func getAll(ctx context.Context, b *testing.B, f *Fleet, link string) (sinks []*Daemon) {
	b.Helper()
	for i := range hugeSinks {
		sinks = append(sinks, f.startAlone(b, f.Grid.Node("A", 0), fmt.Sprintf("sink%d", i)))
	}
	ctx, cancel := context.WithTimeout(ctx, hugeTime)
	defer cancel()
	concurrently(b, sinks, func(d *Daemon) error {
		if err := d.Get(ctx, link); ctx.Err() == nil {
			return err
		}
		return nil
	})
	return sinks
}

func stopAndRemove(t testing.TB, d *Daemon) {
	t.Helper()
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(d.Out()); err != nil {
		t.Error(err)
	}
}

// TestGridHugeContentTakesNoMemory transfers 1 TiB of holes, with sixteen pieces of data,
// and compares the memory of both daemons with that for those pieces alone.
func TestGridHugeContentTakesNoMemory(t *testing.T) {
	t.Parallel()
	f, _ := newFleet(t, netns.Links{}, 1)
	const pieces = 16
	small := memoryPeaks(t, f, "small", sparse(t, pieces*hugePiece, pieces))
	huge := memoryPeaks(t, f, "huge", sparse(t, hugeSize, pieces))
	for i, end := range []string{"source", "sink"} {
		t.Logf("%s: %d MB for 1 TiB, %d MB for %d MiB", end, huge[i]/1e6, small[i]/1e6, pieces*hugePiece>>20)
		if huge[i] > 2*small[i] {
			t.Errorf("%s: 1 TiB takes %d MB, more than twice the %d MB for %d pieces", end, huge[i]/1e6, small[i]/1e6, pieces)
		}
	}
}

// memoryPeaks transfers a sparse file between two daemons and returns the peak of the
// memory of each.
func memoryPeaks(t *testing.T, f *Fleet, name, path string) (peaks [2]int64) {
	t.Helper()
	node := f.Grid.Node("A", 0)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	source, sink := f.startAlone(t, node, name+"-source"), f.startAlone(t, node, name+"-sink")
	link, err := source.Seed(ctx, path, "--piece-length", "16MiB")
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Get(ctx, link); err != nil {
		t.Fatal(err)
	}
	peaks[0], peaks[1] = source.usage(t).Peak, sink.usage(t).Peak
	mustEqualSparse(t, path, sink.Out())
	stopAndRemove(t, sink)
	stopAndRemove(t, source)
	return peaks
}

// mustEqualSparse compares the first page of each piece of two sparse files, and checks
// that the copy has the original's holes.
func mustEqualSparse(t *testing.T, original, copied string) {
	t.Helper()
	a, b := open(t, original), open(t, copied)
	defer a.Close()
	defer b.Close()
	info, err := b.Stat()
	if err != nil {
		t.Fatal(err)
	}
	data, page := 0, make([]byte, 4096)
	other, zeros := make([]byte, len(page)), make([]byte, len(page))
	for at := int64(0); at < info.Size(); at += hugePiece {
		_, errA := a.ReadAt(page, at)
		_, errB := b.ReadAt(other, at)
		if err := errors.Join(errA, errB); err != nil || !bytes.Equal(page, other) {
			t.Fatalf("the copy differs at %d: %v", at, err)
		}
		if !bytes.Equal(page, zeros) {
			data++
		}
	}
	// The file system's own blocks for the file are fewer.
	if room := info.Sys().(*syscall.Stat_t).Blocks * 512; room > int64(data+1)*hugePiece {
		t.Errorf("the copy of %d pieces with data takes %d MB", data, room/1e6)
	}
}

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
