package peer

import (
	"strings"

	"github.com/mobgrid/mob/proto"
)

// maxNamed bounds the files that a status and the log name.
const maxNamed = 8

// filesOf returns the paths of the files that have a part of some pieces, in the order of the
// manifest: at most a number of them, and how many there are besides. pieces is ascending.
func filesOf(m *proto.Manifest, pieces []int, most int) (paths []string, more int) {
	var start int64
	next := 0
	for i := range m.Entries {
		e := &m.Entries[i]
		end := start + e.Size
		for next < len(pieces) && m.PieceOffset(pieces[next])+int64(m.PieceSize(pieces[next])) <= start {
			next++
		}
		if next == len(pieces) {
			break
		}
		if e.Size > 0 && e.Kind != proto.Pad && m.PieceOffset(pieces[next]) < end {
			if len(paths) < most {
				paths = append(paths, pathOf(m, e))
			} else {
				more++
			}
		}
		start = end
	}
	return paths, more
}

// pathOf returns the path of an entry in the content. The only file of a content has none of its own.
func pathOf(m *proto.Manifest, e *proto.Entry) string {
	if e.Path == "" {
		return m.Name
	}
	return e.Path
}

// oneLine joins the lines of a text, such as those of an error that lists others.
func oneLine(text string) string {
	var parts []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, "; ")
}
