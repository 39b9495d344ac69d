package store

import (
	"iter"
	"slices"

	"github.com/mobgrid/mob/proto"
)

// layout maps offsets of the stream to files. It is immutable. Its file numbers count
// the files that are not empty, and padding, which is in the stream but not on disk.
type layout struct {
	m       *proto.Manifest
	starts  []int64 // offset of each file in the stream, ascending
	entries []int32 // index of each file in the manifest's entries
	length  int64   // of the stream, in bytes
}

func newLayout(m *proto.Manifest) layout {
	l := layout{m: m}
	for i := range m.Entries {
		if size := m.Entries[i].Size; size > 0 {
			l.starts = append(l.starts, l.length)
			l.entries = append(l.entries, int32(i))
			l.length += size
		}
	}
	return l
}

// pad reports whether a file is padding.
func (l *layout) pad(file int) bool { return l.m.Entries[l.entries[file]].Kind == proto.Pad }

// leftOut reports whether a file is left out of a partial manifest. It is padding, too.
func (l *layout) leftOut(file int) bool { return l.m.LeavesOut(int(l.entries[file])) }

// file returns the number of the file of an entry, -1 if the entry has no bytes.
func (l *layout) file(entry int) int {
	if file, ok := slices.BinarySearch(l.entries, int32(entry)); ok {
		return file
	}
	return -1
}

// files returns the number of files.
func (l *layout) files() int { return len(l.starts) }

// find returns the file at an offset within the stream.
func (l *layout) find(offset int64) int {
	i, exact := slices.BinarySearch(l.starts, offset)
	if exact {
		return i
	}
	return i - 1
}

// each calls do for each file that p at an offset of the stream overlaps, with the overlap and its offset in the file. It
// returns the number of bytes that are done, up to the first error.
func (l *layout) each(p []byte, offset int64, do func(file int, part []byte, at int64) (int, error)) (n int, err error) {
	for file := l.find(offset); n < len(p) && file < l.files() && err == nil; file++ {
		at := offset + int64(n)
		var done int
		done, err = do(file, p[n:min(int64(len(p)), int64(n)+l.end(file)-at)], at-l.starts[file])
		n += done
	}
	return n, err
}

// end returns the offset in the stream at which a file ends.
func (l *layout) end(file int) int64 {
	if file+1 < len(l.starts) {
		return l.starts[file+1]
	}
	return l.length
}

func (l *layout) size(file int) int64 { return l.end(file) - l.starts[file] }

// pieceFiles returns the files that a piece overlaps: first to after-1.
func (l *layout) pieceFiles(piece int) (first, after int) {
	start := l.m.PieceOffset(piece)
	return l.find(start), l.find(start+int64(l.m.PieceSize(piece))-1) + 1
}

// filesOf returns the files that a piece overlaps, without padding.
func (l *layout) filesOf(piece int) iter.Seq[int] { return l.onDisk(l.pieceFiles(piece)) }

// onDisk returns the files from first to after-1, without padding.
func (l *layout) onDisk(first, after int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for file := first; file < after; file++ {
			if !l.pad(file) && !yield(file) {
				return
			}
		}
	}
}

// every reports whether holds is true of all pieces that a file overlaps.
func (l *layout) every(file int, holds func(piece int) bool) bool {
	first, after := l.filePieces(file)
	for piece := first; piece < after; piece++ {
		if !holds(piece) {
			return false
		}
	}
	return true
}

// filePieces returns the pieces that a file overlaps: first to after-1.
func (l *layout) filePieces(file int) (first, after int) {
	length := int64(l.m.PieceLength)
	return int(l.starts[file] / length), int((l.end(file)-1)/length) + 1
}
