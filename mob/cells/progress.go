// Package cells keeps account of a piece on its way: which of its bytes were asked
// for, and which came, in cells of [proto.Cell] bytes.
package cells

import "github.com/mobgrid/mob/proto"

// Progress is how far one piece is. It is not safe for concurrent use.
type Progress struct {
	// Constant: the piece's number, and its length in bytes.
	Piece, Size int
	// Missing is how many bytes have not arrived. It is Progress's to change.
	Missing int

	next    int          // what was asked for, from the piece's beginning
	redo    []proto.Span // asked for and given up
	arrived []uint64     // a bit per cell
}

// New is that of a piece of which nothing was asked for.
func New(piece, size int) Progress {
	cells := (size + proto.Cell - 1) / proto.Cell
	return Progress{Piece: piece, Size: size, Missing: size, arrived: make([]uint64, (cells+63)/64)}
}

// Asked says whether every byte that is missing is asked for. It forgets spans
// that came after all.
func (p *Progress) Asked() bool {
	for k := len(p.redo) - 1; k >= 0 && p.Has(p.redo[k]); k-- {
		p.redo = p.redo[:k]
	}
	for p.next < p.Size && p.arrived[p.next/proto.Cell>>6]&(1<<(p.next/proto.Cell&63)) != 0 {
		p.next += proto.Cell
	}
	return p.next >= p.Size && len(p.redo) == 0
}

// Span takes the next part to ask for, at most block bytes. There must be one
// (see Asked).
func (p *Progress) Span(block int) proto.Span {
	if k := len(p.redo) - 1; k >= 0 {
		sp := p.redo[k]
		p.redo = p.redo[:k]
		if int(sp.Length) > block {
			rest := sp
			rest.Begin += uint32(block)
			rest.Length -= uint32(block)
			p.redo = append(p.redo, rest)
			sp.Length = uint32(block)
		}
		return sp
	}
	n := min(block, p.Size-p.next)
	sp := proto.Span{Piece: uint32(p.Piece), Begin: uint32(p.next), Length: uint32(n)}
	p.next += n
	return sp
}

// Has says whether all of a span has arrived.
func (p *Progress) Has(sp proto.Span) bool {
	for c := int(sp.Begin) / proto.Cell; c*proto.Cell < int(sp.Begin+sp.Length); c++ {
		if p.arrived[c>>6]&(1<<(c&63)) == 0 {
			return false
		}
	}
	return true
}

// Fits says whether a span is whole cells of the piece.
func (p *Progress) Fits(sp proto.Span) bool {
	end := int(sp.Begin) + int(sp.Length)
	return int(sp.Begin)%proto.Cell == 0 && (end == p.Size || end < p.Size && end%proto.Cell == 0)
}

// Add marks a span as arrived and returns the bytes that were new.
func (p *Progress) Add(sp proto.Span) int {
	fresh := 0
	for c := int(sp.Begin) / proto.Cell; c*proto.Cell < int(sp.Begin+sp.Length); c++ {
		if p.arrived[c>>6]&(1<<(c&63)) == 0 {
			p.arrived[c>>6] |= 1 << (c & 63)
			fresh += min(proto.Cell, p.Size-c*proto.Cell)
		}
	}
	p.Missing -= fresh
	return fresh
}

// GiveBack returns a span that will not come from where it was asked.
func (p *Progress) GiveBack(sp proto.Span) {
	if !p.Has(sp) {
		p.redo = append(p.redo, sp)
	}
}
