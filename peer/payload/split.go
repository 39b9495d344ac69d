package payload

import "github.com/mobgrid/mob/proto"

// splitPieces reports for each piece whether it has parts of several files. It returns nil if
// none has.
func splitPieces(m *proto.Manifest) (split []bool) {
	offset, total, length := int64(0), m.Length(), int64(m.PieceLength)
	for i := range m.Entries {
		offset += m.Entries[i].Size
		if offset%length == 0 || offset == total {
			continue
		}
		if split == nil {
			split = make([]bool, m.Pieces())
		}
		split[offset/length] = true
	}
	return split
}
