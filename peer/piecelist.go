package peer

import (
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
	for _, entries := range m.PieceFiles(slices.Values(pieces)) {
		var files, differ []string
		for _, i := range entries {
			path := m.FileName(i)
			files = append(files, path)
			if len(entries) == 1 || differing[path] {
				differ = append(differ, path)
			}
		}
		if len(differ) == 0 {
			l.addGroup(files)
		}
		for _, path := range differ {
			if !named[path] && len(named) < maxListed {
				l.Files = append(l.Files, path)
			}
			named[path] = true
		}
	}
	l.MoreFiles = len(named) - len(l.Files)
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
