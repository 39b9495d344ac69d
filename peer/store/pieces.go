package store

import (
	"fmt"

	"github.com/mobgrid/mob/proto"
)

// pieces says which pieces of the content are stored. A piece is verified, unverified or missing. Methods may be called
// concurrently.
type pieces struct {
	m          *proto.Manifest
	leftOut    bitset // pieces of left-out files only; constant
	wanted     int    // the number of the other pieces
	verified   bitset
	unverified bitset
}

func newPieces(m *proto.Manifest) pieces {
	n := m.Pieces()
	p := pieces{m: m, leftOut: newBitset(n), verified: newBitset(n), unverified: newBitset(n)}
	for _, piece := range m.LeftOutPieces() {
		p.leftOut.set(piece)
	}
	p.wanted = n - p.leftOut.count()
	return p
}

// Has implements [Store].
func (p *pieces) Has(piece int) bool { return p.verified.has(piece) }

// Count implements [Store].
func (p *pieces) Count() int { return p.verified.count() }

// Unverified reports for each piece whether it is unverified: likely there, but to be
// hashed again, and then committed or forgotten, see [Audit] and [Record]. A piece that is
// written to is not unverified any more.
func (p *pieces) Unverified() []bool {
	unverified := make([]bool, p.m.Pieces())
	for i := range unverified {
		unverified[i] = p.unverified.has(i)
	}
	return unverified
}

// LeavesOut reports whether a piece has bytes of left-out files only.
func (p *pieces) LeavesOut(piece int) bool { return p.leftOut.has(piece) }

// write returns why n bytes may not be written at offset of the content. If they may, their pieces are not unverified any more.
func (p *pieces) write(n int, offset int64) error {
	if offset < 0 {
		return errNegativeOffset
	}
	if offset > p.m.Length()-int64(n) {
		return fmt.Errorf("write of %d bytes at %d exceeds the content's %d", n, offset, p.m.Length())
	}
	if n == 0 {
		return nil
	}
	length := int64(p.m.PieceLength)
	for piece := int(offset / length); piece <= int((offset+int64(n)-1)/length); piece++ {
		// First this, then that: see Disk.commit.
		if p.unverified.has(piece) {
			p.unverified.clear(piece)
		}
		if p.verified.has(piece) {
			return ErrVerified
		}
	}
	return nil
}

// drop makes a piece missing.
func (p *pieces) drop(piece int) {
	p.verified.clear(piece)
	p.unverified.clear(piece)
}

// unverify makes a piece unverified.
func (p *pieces) unverify(piece int) {
	p.verified.clear(piece)
	p.unverified.set(piece)
}

// missing returns the bytes of the pieces that are not stored, and of those that are zeros and need no room.
func (p *pieces) missing(zeros pieceSum) (need, zero int64) {
	for piece := range p.m.Pieces() {
		size := int64(p.m.PieceSize(piece))
		switch {
		case p.LeavesOut(piece):
		case zeros.matches(p.m, piece):
			zero += size
		case !p.verified.has(piece):
			need += size
		}
	}
	return need, zero
}
