package mob

import "github.com/mobgrid/mob/proto"

// progress is how far a piece on its way is: which of its bytes were requested, and which
// arrived, in cells of [proto.Cell] bytes.
type progress struct {
	// Constant: the piece's number, and its length in bytes.
	piece, size int

	missing int          // bytes that have not arrived
	next    int          // the first byte that was never requested
	redo    []proto.Span // requested, and given back
	arrived []uint64     // a bit for each cell
}

// newProgress is that of a piece of which nothing was requested.
func newProgress(piece, size int) progress {
	cells := (size + proto.Cell - 1) / proto.Cell
	return progress{piece: piece, size: size, missing: size, arrived: make([]uint64, (cells+63)/64)}
}

// requested reports whether every missing byte is requested. It forgets spans that were given
// back and arrived after all.
func (p *progress) requested() bool {
	for k := len(p.redo) - 1; k >= 0 && p.has(p.redo[k]); k-- {
		p.redo = p.redo[:k]
	}
	for p.next < p.size && p.arrived[p.next/proto.Cell>>6]&(1<<(p.next/proto.Cell&63)) != 0 {
		p.next += proto.Cell
	}
	return p.next >= p.size && len(p.redo) == 0
}

// request takes the next span to request, of at most block bytes. There must be one: see
// requested.
func (p *progress) request(block int) proto.Span {
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
	n := min(block, p.size-p.next)
	sp := proto.Span{Piece: uint32(p.piece), Begin: uint32(p.next), Length: uint32(n)}
	p.next += n
	return sp
}

// has reports whether all of a span has arrived.
func (p *progress) has(sp proto.Span) bool {
	for c := int(sp.Begin) / proto.Cell; c*proto.Cell < int(sp.Begin+sp.Length); c++ {
		if p.arrived[c>>6]&(1<<(c&63)) == 0 {
			return false
		}
	}
	return true
}

// fits reports whether a span is whole cells of the piece.
func (p *progress) fits(sp proto.Span) bool {
	end := int(sp.Begin) + int(sp.Length)
	return int(sp.Begin)%proto.Cell == 0 && (end == p.size || end < p.size && end%proto.Cell == 0)
}

// add notes that a span has arrived, and returns how many of its bytes are new.
func (p *progress) add(sp proto.Span) int {
	fresh := 0
	for c := int(sp.Begin) / proto.Cell; c*proto.Cell < int(sp.Begin+sp.Length); c++ {
		if p.arrived[c>>6]&(1<<(c&63)) == 0 {
			p.arrived[c>>6] |= 1 << (c & 63)
			fresh += min(proto.Cell, p.size-c*proto.Cell)
		}
	}
	p.missing -= fresh
	return fresh
}

// giveBack notes that a requested span will not come from where it was requested.
func (p *progress) giveBack(sp proto.Span) {
	if !p.has(sp) {
		p.redo = append(p.redo, sp)
	}
}
