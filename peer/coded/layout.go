package coded

import "github.com/mobgrid/mob/proto"

// Layout says where the generations of a content are. See docs/wire.md, 7.6.
type Layout struct {
	m      *proto.Manifest
	coding proto.Coding
	blocks int // source blocks
}

// NewLayout is that of a content.
func NewLayout(m *proto.Manifest, c proto.Coding) Layout {
	return Layout{m, c, int((m.Length() + int64(c.Block) - 1) / int64(c.Block))}
}

// Generations is how many there are.
func (l *Layout) Generations() int { return (l.blocks + l.coding.K - 1) / l.coding.K }

// Names is how many blocks of a generation have a name.
func (l *Layout) Names() int { return l.coding.Names() }

// Of gives the generation of a block's number, and the block's name there.
func (l *Layout) Of(number uint32) (generation, name int) {
	return int(number) / l.coding.Names(), int(number) % l.coding.Names()
}

// Number is the inverse of Of.
func (l *Layout) Number(generation, name int) uint32 {
	return uint32(generation*l.coding.Names() + name)
}

// Valid says whether a span is one block of the content.
func (l *Layout) Valid(sp proto.Span) bool {
	g, _ := l.Of(sp.Piece)
	return g < l.Generations() && sp.Begin == 0 && int(sp.Length) == l.coding.Block
}

// Span is that of a block.
func (l *Layout) Span(number uint32) proto.Span {
	return proto.Span{Piece: number, Length: uint32(l.coding.Block)}
}

// GenerationOf is the generation of a piece.
func (l *Layout) GenerationOf(piece int) int {
	return piece / l.perGeneration()
}

// Pieces are those of a generation, from first on.
func (l *Layout) Pieces(generation int) (first, end int) {
	first = generation * l.perGeneration()
	return first, min(first+l.perGeneration(), l.m.Pieces())
}

func (l *Layout) perGeneration() int { return l.coding.K * l.coding.Block / int(l.m.PieceLength) }

// source is how many source blocks a generation has.
func (l *Layout) source(generation int) int {
	return min(l.coding.K, l.blocks-generation*l.coding.K)
}

// Size is how many bytes of the content a generation has.
func (l *Layout) Size(generation int) int {
	return int(min(int64(l.source(generation)*l.coding.Block), l.m.Length()-l.offset(generation)))
}

// offset is where a generation begins in the content, in bytes.
func (l *Layout) offset(generation int) int64 {
	return int64(generation) * int64(l.coding.K*l.coding.Block)
}

// pieceOf is the piece of a source block.
func (l *Layout) pieceOf(generation, name int) int {
	first, _ := l.Pieces(generation)
	return first + name*l.coding.Block/int(l.m.PieceLength)
}

// Plain is the part of a piece that is a source block; ok is false for other blocks.
func (l *Layout) Plain(number uint32) (sp proto.Span, ok bool) {
	generation, name := l.Of(number)
	if generation >= l.Generations() || name >= l.source(generation) {
		return proto.Span{}, false
	}
	piece := l.pieceOf(generation, name)
	first, _ := l.namesOf(piece)
	begin := (name - first) * l.coding.Block
	return proto.Span{Piece: uint32(piece), Begin: uint32(begin), Length: uint32(min(l.coding.Block, l.m.PieceSize(piece)-begin))}, true
}

// Numbers are the source blocks of a piece: so many, from first on.
func (l *Layout) Numbers(piece int) (first uint32, count int) {
	from, end := l.namesOf(piece)
	return l.Number(l.GenerationOf(piece), from), end - from
}

// Block is the length of a block.
func (l *Layout) Block() int { return l.coding.Block }

// namesOf are the source blocks of a piece, in its generation, from first on.
func (l *Layout) namesOf(piece int) (first, end int) {
	g := l.GenerationOf(piece)
	from, _ := l.Pieces(g)
	per := int(l.m.PieceLength) / l.coding.Block
	first = (piece - from) * per
	return first, min(first+per, l.source(g))
}
