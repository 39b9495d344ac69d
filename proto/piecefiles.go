package proto

import (
	"cmp"
	"iter"
	"slices"
)

// PieceFiles yields each of some pieces, which must be sorted, with the entry numbers of the files that have bytes in it.
// These are valid until the next piece.
func (m *Manifest) PieceFiles(pieces iter.Seq[int]) iter.Seq2[int, []int] {
	return func(yield func(int, []int) bool) {
		next, begin := 0, int64(0) // the first entry that may be in a piece, and its offset
		var files []int
		for piece := range pieces {
			for next < len(m.Entries) && begin+m.Entries[next].Size <= m.PieceOffset(piece) {
				begin += m.Entries[next].Size
				next++
			}
			files = files[:0]
			for i, offset := next, begin; i < len(m.Entries) && offset < m.PieceOffset(piece+1); i++ {
				if e := &m.Entries[i]; e.Kind == File && e.Size > 0 {
					files = append(files, i)
				}
				offset += m.Entries[i].Size
			}
			if !yield(piece, files) {
				return
			}
		}
	}
}

// FileName returns the path of a file in the content. A single file has the name of the content.
func (m *Manifest) FileName(entry int) string { return cmp.Or(m.Entries[entry].Path, m.Name) }

// FilesOf returns the names of at most a number of files with bytes in some pieces, which must be sorted, and the number
// of further files.
func (m *Manifest) FilesOf(pieces []int, most int) (names []string, more int) {
	next := 0 // the first entry that was not seen
	for _, files := range m.PieceFiles(slices.Values(pieces)) {
		for _, i := range files {
			switch {
			case i < next:
				continue
			case len(names) == most:
				more++
			default:
				names = append(names, m.FileName(i))
			}
			next = i + 1
		}
	}
	return names, more
}
