package peer

import (
	"cmp"
	"slices"

	"github.com/mobgrid/mob/proto"
)

// maxListed bounds the files and entries in a list.
const maxListed = 100

// PieceList names some pieces.
type PieceList struct {
	Count int `json:"count"`
	// Numbers has the first thousand of them, counted from 0.
	Numbers []int `json:"numbers"`
	// Files has the files that they are in, the first hundred of them, and MoreFiles counts the
	// remaining ones. Of a piece in several files, these are the files that differ.
	Files     []string `json:"files"`
	MoreFiles int      `json:"more_files,omitempty"`
	// OneOf has the files of pieces in several files none of which is known to differ.
	OneOf []FileGroup `json:"one_of,omitempty"`
}

// FileGroup is the files of a piece.
type FileGroup struct {
	// Files has the first ten, and More counts the remaining ones.
	Files []string `json:"files"`
	More  int      `json:"more,omitempty"`
}

// newPieceList lists pieces of m, which it sorts. The paths in differing are files that differ.
func newPieceList(m *proto.Manifest, pieces []int, differing map[string]bool) PieceList {
	slices.Sort(pieces)
	l := PieceList{Count: len(pieces), Numbers: append([]int{}, pieces[:min(len(pieces), 1000)]...), Files: []string{}}
	named := make(map[string]bool)
	eachPiece(m, pieces, func(files []string) {
		differ := files
		if len(files) > 1 {
			differ = slices.DeleteFunc(slices.Clone(files), func(path string) bool { return !differing[path] })
		}
		if len(differ) == 0 {
			l.addGroup(files)
		}
		for _, path := range differ {
			switch {
			case named[path]:
			case len(l.Files) == maxListed:
				l.MoreFiles++
			default:
				l.Files = append(l.Files, path)
			}
			named[path] = true
		}
	})
	return l
}

// addGroup adds the files of a piece.
func (l *PieceList) addGroup(files []string) {
	const most = 10
	g := FileGroup{Files: files[:min(len(files), most)]}
	g.More = len(files) - len(g.Files)
	if n := len(l.OneOf); n == maxListed || n > 0 && slices.Equal(l.OneOf[n-1].Files, g.Files) {
		return
	}
	l.OneOf = append(l.OneOf, g)
}

// eachPiece calls f with the files of each of some pieces, which are in order.
func eachPiece(m *proto.Manifest, pieces []int, f func(files []string)) {
	next, begin := 0, int64(0) // the first entry that may be in a piece, and its offset
	for _, piece := range pieces {
		from := m.PieceOffset(piece)
		to := from + int64(m.PieceSize(piece))
		for next < len(m.Entries) && begin+m.Entries[next].Size <= from {
			begin += m.Entries[next].Size
			next++
		}
		var files []string
		offset := begin
		for i := next; i < len(m.Entries) && offset < to; i++ {
			e := &m.Entries[i]
			if offset += e.Size; e.Kind == proto.File && e.Size > 0 {
				files = append(files, cmp.Or(e.Path, m.Name))
			}
		}
		f(files)
	}
}
