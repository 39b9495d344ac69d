package store_test

import (
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/mobgrid/mob/peer/store"
	"github.com/mobgrid/mob/peer/store/storetest"
	"github.com/mobgrid/mob/proto"
)

const benchBlock = 128 << 10

func benchDisk(b testing.TB, size int64) (*store.Disk, storetest.Content) {
	c := storetest.Make(b, 1, storetest.File("a", size/2), storetest.File("b", size/2))
	d, err := store.Create(b.TempDir(), filepath.Join(b.TempDir(), "content"), c.Manifest, store.NewFiles(16))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	if _, err := d.WriteAt(c.Data, 0); err != nil {
		b.Fatal(err)
	}
	return d, c
}

func TestAllocs(t *testing.T) {
	d, c := benchDisk(t, 4*piece)
	block := make([]byte, benchBlock)
	middle := int64(len(c.Data)/2) - benchBlock/2 // in both files
	if n := testing.AllocsPerRun(100, func() {
		if _, err := d.WriteAt(block, middle); err != nil {
			t.Error(err)
		}
		if _, err := d.ReadAt(block, middle); err != nil {
			t.Error(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations for a write and a read", n)
	}
}

func benchAt(b *testing.B, at func(d *store.Disk, p []byte, offset int64) (int, error)) {
	d, c := benchDisk(b, 64<<20)
	blocks := int64(len(c.Data) / benchBlock)
	var next atomic.Int64
	b.SetBytes(benchBlock)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		p := make([]byte, benchBlock)
		for pb.Next() {
			if _, err := at(d, p, next.Add(1)%blocks*benchBlock); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkReadAt(b *testing.B) { benchAt(b, (*store.Disk).ReadAt) }

func BenchmarkWriteAt(b *testing.B) { benchAt(b, (*store.Disk).WriteAt) }

func BenchmarkCommit(b *testing.B) {
	c := storetest.Make(b, 1, storetest.File("", 400*piece))
	d, err := store.Create(b.TempDir(), filepath.Join(b.TempDir(), "content"), c.Manifest, store.NewFiles(16))
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	d.FlushEvery(1 << 60)
	for b.Loop() {
		for i := range c.Manifest.Pieces() {
			if err := d.Commit(i); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		d.Close()
		d, err = store.Create(b.TempDir(), filepath.Join(b.TempDir(), "content"), c.Manifest, store.NewFiles(16))
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.Manifest.Pieces()), "ns/piece")
}

func BenchmarkScan(b *testing.B) {
	large := []proto.Entry{storetest.File("", 256<<20)}
	small := []proto.Entry{}
	for i := range 5000 {
		small = append(small, storetest.File(strconv.Itoa(i), 4096))
	}
	for name, entries := range map[string][]proto.Entry{"large": large, "small": small} {
		b.Run(name, func(b *testing.B) {
			c := storetest.Make(b, 1, entries...)
			root := filepath.Join(b.TempDir(), "content")
			(&place{Content: c, t: b}).Write(b, root)
			b.SetBytes(int64(len(c.Data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := store.Scan(b.Context(), root, store.ScanOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSeed starts a seed of 5000 files.
func BenchmarkSeed(b *testing.B) {
	entries := []proto.Entry{}
	for i := range 5000 {
		entries = append(entries, storetest.File(strconv.Itoa(i), 64))
	}
	c := storetest.Make(b, 1, entries...)
	root := filepath.Join(b.TempDir(), "content")
	(&place{Content: c, t: b}).Write(b, root)
	state := b.TempDir()
	for b.Loop() {
		d, err := store.Seed(state, root, c.Manifest, store.NewFiles(0))
		if err != nil {
			b.Fatal(err)
		}
		d.Close()
	}
}

// BenchmarkSmallFiles is a transfer of 2000 files, with a restart after it.
func BenchmarkSmallFiles(b *testing.B) {
	entries := []proto.Entry{}
	for i := range 2000 {
		entries = append(entries, storetest.File(strconv.Itoa(i), 4096))
	}
	c := storetest.Make(b, 1, entries...)
	for b.Loop() {
		state, root, files := b.TempDir(), filepath.Join(b.TempDir(), "content"), store.NewFiles(0)
		d, err := store.Create(state, root, c.Manifest, files)
		if err != nil {
			b.Fatal(err)
		}
		for i := range c.Manifest.Pieces() {
			if _, err := d.WriteAt(c.Piece(i), c.Manifest.PieceOffset(i)); err != nil {
				b.Fatal(err)
			}
			if err := d.Commit(i); err != nil {
				b.Fatal(err)
			}
		}
		for _, step := range []func() error{d.Publish, d.Finish, d.Close} {
			if err := step(); err != nil {
				b.Fatal(err)
			}
		}
		if d, err = store.Open(state, root, c.Manifest, files); err != nil || d.Count() != c.Manifest.Pieces() {
			b.Fatal(d.Count(), err)
		}
		d.Close()
	}
}
