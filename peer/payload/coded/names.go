package coded

import "github.com/mobgrid/mob/proto"

// Names is how many blocks of a generation have a name.
func (c *Content) Names() int { return c.Coding.Names() }

// Of gives the generation of a block's number, and the block's name there.
func (c *Content) Of(number uint32) (generation, name int) {
	return int(number) / c.Coding.Names(), int(number) % c.Coding.Names()
}

// Number is the inverse of Of.
func (c *Content) Number(generation, name int) uint32 {
	return uint32(generation*c.Coding.Names() + name)
}

// Valid says whether a span is one block of the content.
func (c *Content) Valid(sp proto.Span) bool {
	g, _ := c.Of(sp.Piece)
	return g < c.Generations() && sp.Begin == 0 && int(sp.Length) == c.Coding.Block
}

// Span is that of a block.
func (c *Content) Span(number uint32) proto.Span {
	return proto.Span{Piece: number, Length: uint32(c.Coding.Block)}
}

// pieceOf is the piece of a source block.
func (c *Content) pieceOf(generation, name int) int {
	first, _ := c.Pieces(generation)
	return first + name*c.Coding.Block/int(c.Manifest.PieceLength)
}

// namesOf are the source blocks of a piece, in its generation, from first on.
func (c *Content) namesOf(piece int) (first, end int) {
	g := c.GenerationOf(piece)
	from, _ := c.Pieces(g)
	per := int(c.Manifest.PieceLength) / c.Coding.Block
	first = (piece - from) * per
	return first, min(first+per, c.Blocks(g))
}
