package coded

import "github.com/mobgrid/mob/proto"

// layout maps generations to pieces. See docs/wire.md, 7.6.
type layout struct {
	Manifest *proto.Manifest
	Coding   proto.Coding

	blocks int // source blocks
}

func newLayout(m *proto.Manifest, c proto.Coding) layout {
	return layout{m, c, int((m.Length() + int64(c.Block) - 1) / int64(c.Block))}
}

// Generations returns the number of generations.
func (l *layout) Generations() int { return (l.blocks + l.Coding.K - 1) / l.Coding.K }

// Blocks returns the number of source blocks of a generation.
func (l *layout) Blocks(generation int) int {
	return min(l.Coding.K, l.blocks-generation*l.Coding.K)
}

// GenerationOf returns the generation of a piece.
func (l *layout) GenerationOf(piece int) int { return piece / l.perGeneration() }

// Pieces returns the pieces of a generation: first to end-1.
func (l *layout) Pieces(generation int) (first, end int) {
	first = generation * l.perGeneration()
	return first, min(first+l.perGeneration(), l.Manifest.Pieces())
}

// Parts returns the bytes of a piece as slices of the source blocks of its generation.
func (l *layout) Parts(piece int, blocks [][]byte) (parts [][]byte) {
	first, _ := l.Pieces(l.GenerationOf(piece))
	blocks = blocks[(piece-first)*int(l.Manifest.PieceLength)/l.Coding.Block:]
	for left := l.Manifest.PieceSize(piece); left > 0; blocks = blocks[1:] {
		b := blocks[0][:min(left, l.Coding.Block)]
		parts, left = append(parts, b), left-len(b)
	}
	return parts
}

// Pad zeroes the bytes beyond the end of the content in a generation's last source
// block. They are in no piece, so no hash covers them.
func (l *layout) Pad(generation int, blocks [][]byte) {
	last := len(blocks) - 1
	clear(blocks[last][l.Size(generation)-last*l.Coding.Block:])
}

func (l *layout) perGeneration() int {
	return l.Coding.K * l.Coding.Block / int(l.Manifest.PieceLength)
}

// Size returns the number of bytes of the content in a generation.
func (l *layout) Size(generation int) int {
	whole := int64(l.Coding.K * l.Coding.Block)
	return int(min(whole, l.Manifest.Length()-int64(generation)*whole))
}
