package proto

import "slices"

// Partial returns m without the entries that leave reports: padding replaces them, so offsets, pieces and the digest
// stay. Such a manifest is local to a node and has no encoding.
func (m *Manifest) Partial(leave func(entry int) bool) *Manifest {
	p := *m
	p.complete, p.Entries = m, slices.Clone(m.Entries)
	for i := range p.Entries {
		if leave(i) {
			p.Entries[i] = Entry{Kind: Pad, Size: m.Entries[i].Size}
		}
	}
	return &p
}

// LeavesOut reports whether m is [Manifest.Partial] and does not have an entry.
func (m *Manifest) LeavesOut(entry int) bool {
	return m.complete != nil && m.Entries[entry].Kind == Pad && m.complete.Entries[entry].Kind != Pad
}

// LeftOutPieces returns the pieces of a partial manifest in which no file has bytes.
func (m *Manifest) LeftOutPieces() (pieces []int) {
	if m.complete == nil {
		return nil
	}
	all := make([]int, m.Pieces())
	for i := range all {
		all[i] = i
	}
	for i, files := range m.PieceFiles(slices.Values(all)) {
		if len(files) == 0 {
			pieces = append(pieces, i)
		}
	}
	return pieces
}
