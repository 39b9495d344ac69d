package delta

import (
	"errors"
	"io"
	"sort"

	"github.com/mobgrid/mob/proto"
)

// Pieces are the known pieces of a version.
type Pieces interface {
	// Read fills p with a piece, and reports whether it did.
	Read(piece int, p []byte) bool
}

// Base has the bytes of one version in the places of another: each byte of a piece comes from the same file and offset,
// so a file counts as unchanged wherever it stands in the stream. Where there is no such byte, it is zero. Its methods
// may be called from several goroutines.
type Base struct {
	m    *proto.Manifest
	ends []int64 // of each entry in the stream
	open func(path string) (io.ReaderAt, error)
}

// NewBase returns the base of the content of m. Open opens a file of the version before, "" for a single file: files
// that are not there are zeros. What it returns is closed after use if it is an [io.Closer].
func NewBase(m *proto.Manifest, open func(path string) (io.ReaderAt, error)) *Base {
	b := &Base{m: m, ends: make([]int64, len(m.Entries)), open: open}
	end := int64(0)
	for i := range m.Entries {
		end += m.Entries[i].Size
		b.ends[i] = end
	}
	return b
}

// Read fills p with what stands in the place of a piece. It reports false if none of it is known.
func (b *Base) Read(piece int, p []byte) bool {
	offset, known := b.m.PieceOffset(piece), false
	entry := sort.Search(len(b.ends), func(i int) bool { return b.ends[i] > offset })
	for ; len(p) > 0 && entry < len(b.ends); entry++ {
		e := &b.m.Entries[entry]
		at := offset - (b.ends[entry] - e.Size)
		part := p[:min(int64(len(p)), e.Size-at)]
		read := 0
		if e.Kind == proto.File && len(part) > 0 {
			read = b.readFile(e.Path, part, at)
		}
		clear(part[read:])
		known = known || read > 0
		p, offset = p[len(part):], offset+int64(len(part))
	}
	return known
}

// readFile reads from a file to p, and returns the number of bytes, 0 after an error.
func (b *Base) readFile(path string, p []byte, offset int64) int {
	f, err := b.open(path)
	if err != nil {
		return 0
	}
	if c, ok := f.(io.Closer); ok {
		defer c.Close()
	}
	n, err := f.ReadAt(p, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0
	}
	return n
}
