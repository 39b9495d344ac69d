package exchange

import "github.com/mobgrid/mob/proto"

// border translates between a coded transfer and a peer that speaks of plain pieces. Of
// the State's numbers the peer has, and is asked for, only source blocks: each is a part
// of a piece. It hears of pieces that are verified, and of nothing else.
type border struct {
	x     *Blocks
	plain Exchange
}

func (b *border) hear(m proto.Message) proto.Message {
	switch m := m.(type) {
	case *proto.Have:
		return &proto.Have{Have: b.numbers(m.Have), Claim: b.numbers(m.Claim), Drop: b.numbers(m.Drop)}
	case *proto.Want:
		return &proto.Want{Pieces: b.numbers(m.Pieces)}
	case *proto.Reject:
		if number, ok := b.number(m.Span); ok {
			return &proto.Reject{Span: b.x.content.Span(number)}
		}
		return nil
	case *proto.Steal, *proto.Give:
		return nil // pieces are not slow here
	}
	return m
}

func (b *border) say(m proto.Message) proto.Message {
	verified := func(piece uint32) bool { return b.x.Swarm.Has(piece) }
	switch m := m.(type) {
	case *proto.Have:
		lacking := func(piece uint32) bool { return !verified(piece) }
		return &proto.Have{Have: b.pieces(m.Have, verified), Claim: b.pieces(m.Claim, lacking), Drop: b.pieces(m.Drop, lacking)}
	case *proto.Want:
		return &proto.Want{Pieces: b.pieces(m.Pieces, func(uint32) bool { return true })}
	case *proto.Request:
		if sp, ok := b.x.content.Plain(m.Piece); ok {
			return &proto.Request{Span: sp}
		}
		return nil // the peer has no such block
	case *proto.Cancel:
		if sp, ok := b.x.content.Plain(m.Piece); ok {
			return &proto.Cancel{Span: sp}
		}
		return nil
	case *proto.Bad:
		if sp, ok := b.x.content.Plain(m.Piece); ok {
			return &proto.Bad{Piece: sp.Piece}
		}
		return nil
	case *proto.Steal, *proto.Give:
		return nil
	}
	return m
}

// came makes a block of a part of a piece.
func (b *border) came(a *Arrival) {
	number, ok := b.number(a.Span)
	if !ok {
		return // it was not asked for
	}
	a.Span = b.x.content.Span(number)
	if n := b.x.content.Block(); len(a.Buf.B) < n { // the content's last counts as filled up with zeros
		buf := Get(n)
		clear(buf.B[copy(buf.B, a.Buf.B):])
		Put(a.Buf)
		a.Buf = buf
	}
}

func (b *border) complaint(from Peer, m *proto.Bad) (c Complaint, ok bool) {
	if !b.plain.Valid(proto.Span{Piece: m.Piece}) {
		return c, false
	}
	number, _ := b.x.content.Numbers(int(m.Piece))
	return Complaint{from, m.Piece, number}, true
}

// number is the source block that is a span; ok is false when it is none.
func (b *border) number(sp proto.Span) (number uint32, ok bool) {
	if !b.plain.Valid(sp) {
		return 0, false
	}
	number, count := b.x.content.Numbers(int(sp.Piece))
	number += sp.Begin / uint32(b.x.content.Block())
	whole, ok := b.x.content.Plain(number)
	return number, ok && count > 0 && whole == sp
}

// numbers are the source blocks of pieces.
func (b *border) numbers(pieces []proto.Range) (rs []proto.Range) {
	for _, r := range pieces {
		for i := r.First; uint64(i) < r.End() && b.plain.Valid(proto.Span{Piece: i}); i++ {
			first, count := b.x.content.Numbers(int(i))
			rs = extend(rs, first, count)
		}
	}
	return rs
}

// pieces are those of source blocks that are to be spoken of.
func (b *border) pieces(numbers []proto.Range, speak func(piece uint32) bool) (rs []proto.Range) {
	for _, r := range numbers {
		for i := r.First; uint64(i) < r.End(); i++ {
			sp, ok := b.x.content.Plain(i)
			if n := len(rs); ok && (n == 0 || rs[n-1].End() != uint64(sp.Piece)+1) && speak(sp.Piece) {
				rs = extend(rs, sp.Piece, 1)
			}
		}
	}
	return rs
}

// extend appends a range, to the last one if it follows that.
func extend(rs []proto.Range, first uint32, count int) []proto.Range {
	if n := len(rs); n > 0 && rs[n-1].End() == uint64(first) {
		rs[n-1].Count += uint32(count)
		return rs
	}
	return append(rs, proto.Range{First: first, Count: uint32(count)})
}

// tellable is news without the blocks that cannot be passed on. They are told with their
// generation.
func (x *Blocks) tellable(m *proto.Have) *proto.Have {
	if !x.plain.Load() {
		return m
	}
	told := *m
	told.Have = nil
	for _, r := range m.Have {
		for i := r.First; uint64(i) < r.End(); i++ {
			if !x.content.Quiet(i) {
				told.Have = extend(told.Have, i, 1)
			}
		}
	}
	return &told
}
