package flow

import "github.com/mobgrid/mob/proto"

// Progress records which bytes of a piece were requested and which arrived, in cells of [proto.Cell]
// bytes.
type Progress struct {
	Piece, Size int // number and length in bytes; constant

	Missing int          // bytes that have not arrived
	next    int          // the first byte that was never requested
	redo    []proto.Span // requested, and not sent
	arrived []uint64     // a bit for each cell
}

// NewProgress returns the progress of a piece at its start.
func NewProgress(piece, size int) Progress {
	cells := (size + proto.Cell - 1) / proto.Cell
	return Progress{Piece: piece, Size: size, Missing: size, arrived: make([]uint64, (cells+63)/64)}
}

// Requested reports whether every missing byte is requested. It forgets spans of GiveBack that
// arrived after all.
func (p *Progress) Requested() bool {
	for k := len(p.redo) - 1; k >= 0 && p.Has(p.redo[k]); k-- {
		p.redo = p.redo[:k]
	}
	for p.next < p.Size && p.arrived[p.next/proto.Cell>>6]&(1<<(p.next/proto.Cell&63)) != 0 {
		p.next += proto.Cell
	}
	return p.next >= p.Size && len(p.redo) == 0
}

// Next returns the next span to request, of at most block bytes. There must be one: see
// [Progress.Requested].
func (p *Progress) Next(block int) proto.Span {
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

// Has reports whether all of a span has arrived.
func (p *Progress) Has(sp proto.Span) bool {
	for c := int(sp.Begin) / proto.Cell; c*proto.Cell < int(sp.Begin+sp.Length); c++ {
		if p.arrived[c>>6]&(1<<(c&63)) == 0 {
			return false
		}
	}
	return true
}

// Fits reports whether a span consists of entire cells of the piece.
func (p *Progress) Fits(sp proto.Span) bool {
	end := int(sp.Begin) + int(sp.Length)
	return int(sp.Begin)%proto.Cell == 0 && (end == p.Size || end < p.Size && end%proto.Cell == 0)
}

// Add records a span that has arrived, and returns how many of its bytes are new.
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

// GiveBack records that the peer will not send a requested span.
func (p *Progress) GiveBack(sp proto.Span) {
	if !p.Has(sp) {
		p.redo = append(p.redo, sp)
	}
}
