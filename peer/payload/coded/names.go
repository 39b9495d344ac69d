package coded

import "github.com/mobgrid/mob/proto"

// of returns the generation of a block's number, and the block's name in it.
func (l *layout) of(number uint32) (generation, name int) {
	return int(number) / l.Coding.Names(), int(number) % l.Coding.Names()
}

func (l *layout) number(generation, name int) uint32 {
	return uint32(generation*l.Coding.Names() + name)
}

// valid reports whether a span is one block of the content.
func (l *layout) valid(sp proto.Span) bool {
	g, _ := l.of(sp.Piece)
	return g < l.Generations() && sp.Begin == 0 && int(sp.Length) == l.Coding.Block
}

// pieceOf returns the piece of a source block.
func (l *layout) pieceOf(generation, name int) int {
	first, _ := l.Pieces(generation)
	return first + name*l.Coding.Block/int(l.Manifest.PieceLength)
}

// namesOf returns the source blocks of a piece: first to end-1.
func (l *layout) namesOf(piece int) (first, end int) {
	g := l.GenerationOf(piece)
	from, _ := l.Pieces(g)
	per := int(l.Manifest.PieceLength) / l.Coding.Block
	first = (piece - from) * per
	return first, min(first+per, l.Blocks(g))
}

// numbersOf returns the numbers of the source blocks of a piece.
func (l *layout) numbersOf(piece int) (numbers []uint32) {
	first, end := l.namesOf(piece)
	for name := first; name < end; name++ {
		numbers = append(numbers, l.number(l.GenerationOf(piece), name))
	}
	return numbers
}
