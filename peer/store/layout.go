package store

import (
	"iter"
	"slices"

	"github.com/mobgrid/mob/proto"
)

// layout maps offsets of the stream to the entries of the manifest, which are called files here. Entries without bytes, and
// padding, which is in the stream but not on disk, are passed over where files on disk are meant. It is immutable.
type layout struct {
	m    *proto.Manifest
	ends []int64 // offset in the stream at which each entry ends
}

func newLayout(m *proto.Manifest) layout {
	l := layout{m: m, ends: make([]int64, len(m.Entries))}
	end := int64(0)
	for i := range m.Entries {
		end += m.Entries[i].Size
		l.ends[i] = end
	}
	return l
}

// pad reports whether a file is padding.
func (l *layout) pad(file int) bool { return l.m.Entries[file].Kind == proto.Pad }

// size returns the number of bytes of a file.
func (l *layout) size(file int) int64 { return l.m.Entries[file].Size }

// start returns the offset of a file in the stream.
func (l *layout) start(file int) int64 { return l.ends[file] - l.size(file) }

// at returns the file with the byte at an offset within the stream.
func (l *layout) at(offset int64) int {
	file, _ := slices.BinarySearch(l.ends, offset+1) // the first that ends after it
	return file
}

// each calls do for each file that p at an offset of the stream overlaps, with the overlap and its offset in the file. It
// returns the number of bytes that are done, up to the first error.
func (l *layout) each(p []byte, offset int64, do func(file int, part []byte, at int64) (int, error)) (n int, err error) {
	for file := l.at(offset); n < len(p) && file < len(l.ends) && err == nil; file++ {
		if l.size(file) == 0 {
			continue
		}
		at := offset + int64(n)
		var done int
		done, err = do(file, p[n:min(int64(len(p)), int64(n)+l.ends[file]-at)], at-l.start(file))
		n += done
	}
	return n, err
}

// pieceFiles returns the files that a piece overlaps: first to after-1.
func (l *layout) pieceFiles(piece int) (first, after int) {
	start := l.m.PieceOffset(piece)
	return l.at(start), l.at(start+int64(l.m.PieceSize(piece))-1) + 1
}

// filesOf returns the files that a piece overlaps, without padding.
func (l *layout) filesOf(piece int) iter.Seq[int] { return l.onDisk(l.pieceFiles(piece)) }

// all returns the files with bytes, without padding.
func (l *layout) all() iter.Seq[int] { return l.onDisk(0, len(l.ends)) }

// onDisk is all for the files from first to after-1.
func (l *layout) onDisk(first, after int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for file := first; file < after; file++ {
			if l.size(file) > 0 && !l.pad(file) && !yield(file) {
				return
			}
		}
	}
}

// inParts reports whether a piece has bytes of left-out files.
func (l *layout) inParts(piece int) bool {
	first, after := l.pieceFiles(piece)
	for file := first; file < after; file++ {
		if l.m.LeavesOut(file) {
			return true
		}
	}
	return false
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
	if l.size(file) == 0 {
		return 0, 0
	}
	length := int64(l.m.PieceLength)
	return int(l.start(file) / length), int((l.ends[file]-1)/length) + 1
}
