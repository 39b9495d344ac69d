package coded

import "github.com/mobgrid/mob/proto"

// of returns the generation of a block's number, and the block's name in it.
func (c *namedContent) of(number uint32) (generation, name int) {
	return int(number) / c.Coding.Names(), int(number) % c.Coding.Names()
}

// number is the inverse of of.
func (c *namedContent) number(generation, name int) uint32 {
	return uint32(generation*c.Coding.Names() + name)
}

// valid reports whether a span is one block of the content.
func (c *namedContent) valid(sp proto.Span) bool {
	g, _ := c.of(sp.Piece)
	return g < c.Generations() && sp.Begin == 0 && int(sp.Length) == c.Coding.Block
}

// pieceOf returns the piece of a source block.
func (c *namedContent) pieceOf(generation, name int) int {
	first, _ := c.Pieces(generation)
	return first + name*c.Coding.Block/int(c.Manifest.PieceLength)
}

// namesOf returns the source blocks of a piece: first to end-1.
func (c *namedContent) namesOf(piece int) (first, end int) {
	g := c.GenerationOf(piece)
	from, _ := c.Pieces(g)
	per := int(c.Manifest.PieceLength) / c.Coding.Block
	first = (piece - from) * per
	return first, min(first+per, c.Blocks(g))
}
