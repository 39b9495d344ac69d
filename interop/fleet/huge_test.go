package fleet

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mobgrid/mob/interop/netns"
)

const (
	// hugeSize is a content that no memory holds, in bytes: 65,536 pieces.
	hugeSize = 1 << 40
	// hugePiece is the length of its pieces.
	hugePiece = 16 << 20
	// busyFor is how long BenchmarkHuge fetches for: what is fetched in that time
	// has to have room on the disk.
	busyFor = 20 * time.Second
	// fetchers is how many daemons fetch in BenchmarkHuge.
	fetchers = 4
)

// sparse makes a file of size bytes that is one hole but for a page of random
// bytes in each of so many of its pieces, evenly spread. Those pieces are hashed
// and sent like any others; the rest takes neither time nor room.
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
		t.Skipf("this file system tells of no holes: data at %d, %v", next, err)
	}
	return path
}

// BenchmarkHuge serves 1 TiB and reports the resident memory of the daemon that
// does: idle, the peak of hashing and of serving several daemons at once, and the
// largest peak of those that fetch. The content is sparse, with 1024 pieces of
// data (17 GB), of which as much is fetched as 20 s allow.
func BenchmarkHuge(b *testing.B) {
	f, _ := newFleet(b, netns.Links{}, 1)
	node := f.Grid.Node("A", 0)
	path := sparse(b, hugeSize, 1024)
	ctx := b.Context()
	for b.Loop() {
		f.Dir = b.TempDir()
		source := startOn(b, f, node, "source")
		link, err := source.Seed(ctx, path)
		if err != nil {
			b.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		idle, _ := source.memory(b)
		sinks := fetchAll(ctx, b, f, link)
		_, peak := source.memory(b)
		var most, got int64
		for _, d := range sinks {
			_, peak := d.memory(b)
			most = max(most, peak)
			got += d.mustStatus(b).Traffic.WANIn
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

// fetchAll has daemons of as many clusters fetch for busyFor.
func fetchAll(ctx context.Context, b *testing.B, f *Fleet, link string) (sinks []*Daemon) {
	b.Helper()
	for i := range fetchers {
		sinks = append(sinks, startOn(b, f, f.Grid.Node("A", 0), fmt.Sprintf("sink%d", i)))
	}
	ctx, cancel := context.WithTimeout(ctx, busyFor)
	defer cancel()
	var wg sync.WaitGroup
	for _, d := range sinks {
		wg.Go(func() {
			if err := d.Get(ctx, link); err != nil && ctx.Err() == nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
	return sinks
}

// startOn runs a daemon in a cluster of its own.
func startOn(t testing.TB, f *Fleet, node *netns.Node, name string) *Daemon {
	t.Helper()
	d, err := f.StartNamed(node, name, name)
	if err != nil {
		t.Fatal(err)
	}
	return d
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

func (d *Daemon) memory(t testing.TB) (now, peak int64) {
	t.Helper()
	now, peak, err := d.Memory()
	if err != nil {
		t.Fatal(err)
	}
	return now, peak
}

// TestGridHugeContentTakesNoMemory moves 1 TiB of holes, with sixteen pieces of
// data, and compares the memory of both ends with that for those pieces alone.
func TestGridHugeContentTakesNoMemory(t *testing.T) {
	f, _ := newFleet(t, netns.Links{}, 1)
	const pieces = 16
	small := movePeaks(t, f, "small", sparse(t, pieces*hugePiece, pieces))
	huge := movePeaks(t, f, "huge", sparse(t, hugeSize, pieces))
	for i, end := range []string{"source", "sink"} {
		t.Logf("%s: %d MB for 1 TiB, %d MB for %d MiB", end, huge[i]/1e6, small[i]/1e6, pieces*hugePiece>>20)
		if huge[i] > 2*small[i] {
			t.Errorf("%s: 1 TiB takes %d MB, more than twice the %d MB of %d pieces", end, huge[i]/1e6, small[i]/1e6, pieces)
		}
	}
}

// movePeaks moves a sparse file between two daemons, checks the copy's room on
// the disk, and returns the most memory that each had.
func movePeaks(t *testing.T, f *Fleet, name, path string) (peaks [2]int64) {
	t.Helper()
	node := f.Grid.Node("A", 0)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	source, sink := startOn(t, f, node, name+"-source"), startOn(t, f, node, name+"-sink")
	link, err := source.mob(ctx, "seed", "--piece-length", "16MiB", path)
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Get(ctx, link); err != nil {
		t.Fatal(err)
	}
	_, peaks[0] = source.memory(t)
	_, peaks[1] = sink.memory(t)
	sameData(t, path, sink.Out())
	stopAndRemove(t, sink)
	stopAndRemove(t, source)
	return peaks
}

// sameData compares the first page of each piece of two sparse files, and sees to
// it that the copy has holes as the original has.
func sameData(t *testing.T, original, copied string) {
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
	// What the file system needs for itself, to know where the data is, is less.
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
