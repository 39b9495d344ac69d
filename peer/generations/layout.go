// Package generations knows where the generations of a coded content lie in its pieces,
// and reads and stores these, whichever way the blocks are coded.
package generations

import "github.com/mobgrid/mob/proto"

// Layout says where the generations of a content are. See docs/wire.md, 7.6.
type Layout struct {
	// Manifest and Coding are the content's.
	Manifest *proto.Manifest
	Coding   proto.Coding

	blocks int // source blocks
}

// NewLayout is that of a content.
func NewLayout(m *proto.Manifest, c proto.Coding) Layout {
	return Layout{m, c, int((m.Length() + int64(c.Block) - 1) / int64(c.Block))}
}

// Generations is how many there are.
func (l *Layout) Generations() int { return (l.blocks + l.Coding.K - 1) / l.Coding.K }

// Blocks is how many source blocks a generation has.
func (l *Layout) Blocks(generation int) int {
	return min(l.Coding.K, l.blocks-generation*l.Coding.K)
}

// GenerationOf is the generation of a piece.
func (l *Layout) GenerationOf(piece int) int { return piece / l.perGeneration() }

// Pieces are those of a generation, from first on.
func (l *Layout) Pieces(generation int) (first, end int) {
	first = generation * l.perGeneration()
	return first, min(first+l.perGeneration(), l.Manifest.Pieces())
}

// Parts are the bytes of a piece, in the source blocks of its generation.
func (l *Layout) Parts(piece int, blocks [][]byte) (parts [][]byte) {
	first, _ := l.Pieces(l.GenerationOf(piece))
	blocks = blocks[(piece-first)*int(l.Manifest.PieceLength)/l.Coding.Block:]
	for left := l.Manifest.PieceSize(piece); left > 0; blocks = blocks[1:] {
		b := blocks[0][:min(left, l.Coding.Block)]
		parts, left = append(parts, b), left-len(b)
	}
	return parts
}

// Pad puts zeros behind the end of the content, if it ends in the last of a generation's
// source blocks: they are in no piece, so nobody vouched for what is there.
func (l *Layout) Pad(generation int, blocks [][]byte) {
	last := len(blocks) - 1
	clear(blocks[last][l.Size(generation)-last*l.Coding.Block:])
}

func (l *Layout) perGeneration() int {
	return l.Coding.K * l.Coding.Block / int(l.Manifest.PieceLength)
}

// Size is how many bytes of the content a generation has.
func (l *Layout) Size(generation int) int {
	whole := int64(l.Coding.K * l.Coding.Block)
	return int(min(whole, l.Manifest.Length()-int64(generation)*whole))
}
