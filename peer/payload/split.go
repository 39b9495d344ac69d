package payload

import "github.com/mobgrid/mob/proto"

// pieceKinds reports for each piece whether a part of it is padding, and whether it has parts of several
// files.
func pieceKinds(m *proto.Manifest) (padded, split []bool) {
	padded, split = make([]bool, m.Pieces()), make([]bool, m.Pieces())
	begin, total, length := int64(0), m.Length(), int64(m.PieceLength)
	for i := range m.Entries {
		e := &m.Entries[i]
		end := begin + e.Size
		for piece := begin / length; e.Kind == proto.Pad && begin < end && piece*length < end; piece++ {
			padded[piece] = true
		}
		if end%length != 0 && end != total {
			split[end/length] = true
		}
		begin = end
	}
	return padded, split
}
