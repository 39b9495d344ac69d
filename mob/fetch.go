package mob

import (
	"time"

	"github.com/mobgrid/mob/proto"
)

// fetch is a piece on its way: which bytes were asked for, and which came.
type fetch struct {
	piece int
	size  int
	// wan says that the piece comes over the WAN, and so is claimed; claimed that
	// it comes from the only member that has it, and the cluster was told.
	wan, claimed bool
	// worker asks for the bytes from next on; nil when nobody does. helper asks
	// for bytes a second time, in the end game.
	worker, helper *peer
	next           int
	redo           []proto.Span // asked for and given up
	arrived        []uint64     // a bit per cell
	missing        int          // bytes that have not arrived
	started        time.Time
	from           time.Time // when it may begin (see hearOthers)
}

func newFetch(piece, size int, now time.Time) *fetch {
	cells := (size + proto.Cell - 1) / proto.Cell
	return &fetch{piece: piece, size: size, missing: size, arrived: make([]uint64, (cells+63)/64), started: now}
}

// asked says whether every byte that is missing is asked for. It forgets spans
// that came after all.
func (f *fetch) asked() bool {
	for k := len(f.redo) - 1; k >= 0 && f.has(f.redo[k]); k-- {
		f.redo = f.redo[:k]
	}
	for f.next < f.size && f.arrived[f.next/proto.Cell>>6]&(1<<(f.next/proto.Cell&63)) != 0 {
		f.next += proto.Cell
	}
	return f.next >= f.size && len(f.redo) == 0
}

// span takes the next part to ask for, at most block bytes. There must be one
// (see asked).
func (f *fetch) span(block int) proto.Span {
	if k := len(f.redo) - 1; k >= 0 {
		sp := f.redo[k]
		f.redo = f.redo[:k]
		if int(sp.Length) > block {
			rest := sp
			rest.Begin += uint32(block)
			rest.Length -= uint32(block)
			f.redo = append(f.redo, rest)
			sp.Length = uint32(block)
		}
		return sp
	}
	n := min(block, f.size-f.next)
	sp := proto.Span{Piece: uint32(f.piece), Begin: uint32(f.next), Length: uint32(n)}
	f.next += n
	return sp
}

func (f *fetch) has(sp proto.Span) bool {
	for c := int(sp.Begin) / proto.Cell; c*proto.Cell < int(sp.Begin+sp.Length); c++ {
		if f.arrived[c>>6]&(1<<(c&63)) == 0 {
			return false
		}
	}
	return true
}

// fits says whether a span is whole cells of the piece.
func (f *fetch) fits(sp proto.Span) bool {
	end := int(sp.Begin) + int(sp.Length)
	return int(sp.Begin)%proto.Cell == 0 && (end == f.size || end < f.size && end%proto.Cell == 0)
}

// add marks a span as arrived and returns the bytes that were new.
func (f *fetch) add(sp proto.Span) int {
	fresh := 0
	for c := int(sp.Begin) / proto.Cell; c*proto.Cell < int(sp.Begin+sp.Length); c++ {
		if f.arrived[c>>6]&(1<<(c&63)) == 0 {
			f.arrived[c>>6] |= 1 << (c & 63)
			fresh += min(proto.Cell, f.size-c*proto.Cell)
		}
	}
	f.missing -= fresh
	return fresh
}

// giveBack returns a span that will not come from where it was asked.
func (f *fetch) giveBack(sp proto.Span) {
	if !f.has(sp) {
		f.redo = append(f.redo, sp)
	}
}

// request is one span asked of one peer.
type request struct {
	fetch *fetch
	span  proto.Span
	sent  time.Time
}

// grace is for how long nothing need have come from the worker: a guest looks at
// its requests when it sees fit, and what was asked for before comes first.
func (f *fetch) grace() time.Duration {
	if f.worker == nil || !f.worker.Guest {
		return 0
	}
	return time.Duration(f.worker.wait() * float64(time.Second))
}
