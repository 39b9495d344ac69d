package payload

import "github.com/mobgrid/mob/proto"

// paddedPieces reports for each piece whether a part of it is padding. It returns nil if
// there is no padding.
func paddedPieces(m *proto.Manifest) (padded []bool) {
	offset, length := int64(0), int64(m.PieceLength)
	for i := range m.Entries {
		e := &m.Entries[i]
		end := offset + e.Size
		if e.Kind == proto.Pad && e.Size > 0 {
			if padded == nil {
				padded = make([]bool, m.Pieces())
			}
			for piece := offset / length; piece*length < end; piece++ {
				padded[piece] = true
			}
		}
		offset = end
	}
	return padded
}
