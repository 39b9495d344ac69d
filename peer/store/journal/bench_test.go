package journal

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/mobgrid/mob/peer/store/vfs"
)

// BenchmarkOpen opens the journals of 2,000 transfers of 64 MiB, as a node does when it starts.
func BenchmarkOpen(b *testing.B) {
	const transfers, pieces = 2000, 256
	shape := Shape{Pieces: pieces, Entries: 1, PiecesOf: func(int) (int, int) { return 0, pieces }}
	dir := b.TempDir()
	for i := range transfers {
		j, err := Create(vfs.OS{}, filepath.Join(dir, strconv.Itoa(i)), Header{}, shape)
		if err != nil {
			b.Fatal(err)
		}
		for piece := range pieces {
			if err := j.Commit(piece); err != nil {
				b.Fatal(err)
			}
		}
		if err := j.Complete(); err != nil {
			b.Fatal(err)
		}
		j.Close()
	}
	flush(b, dir)
	for b.Loop() {
		for i := range transfers {
			j, err := Open(vfs.OS{}, filepath.Join(dir, strconv.Itoa(i)), [32]byte{}, shape)
			if err != nil {
				b.Fatal(err)
			}
			j.Close()
		}
	}
}

// flush writes the file system of a directory to the disk.
func flush(b *testing.B, dir string) {
	f, err := vfs.OS{}.OpenFile(dir, 0, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := f.SyncFS(); err != nil {
		b.Fatal(err)
	}
}
