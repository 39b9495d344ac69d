package sim

import (
	"slices"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// store is what a node has, and the pieces that it puts together.
type store struct {
	length int64
	piece  int
	has    *bitset.Set
	parts  map[int]*part
}

// part is a piece that is not whole.
type part struct {
	piece   int
	cells   []bool
	missing int
	bad     bool
	sources []proto.PeerID
}

func newStore(c *Config) *store {
	n := c.pieces()
	if c.Strategy.Gossip() {
		n = (n + c.Generation - 1) / c.Generation
	}
	length := c.Length
	if c.Coding.Blocks > 0 {
		n = (n + c.Coding.Blocks - 1) / c.Coding.Blocks * c.Coding.Names
		length = int64(n) * int64(c.PieceLength)
	}
	return &store{length: length, piece: c.PieceLength, has: bitset.New(n), parts: map[int]*part{}}
}

// size is the length of a piece in bytes.
func (st *store) size(i int) int {
	return int(min(int64(st.piece), st.length-int64(i)*int64(st.piece)))
}

// fresh counts the bytes of a span that the store lacks.
func (st *store) fresh(sp proto.Span) int {
	i := int(sp.Piece)
	if st.has.Has(i) {
		return 0
	}
	p := st.parts[i]
	n := 0
	for c := int(sp.Begin) / proto.Cell; c*proto.Cell < int(sp.Begin+sp.Length); c++ {
		if p == nil || !p.cells[c] {
			n += min(proto.Cell, st.size(i)-c*proto.Cell)
		}
	}
	return n
}

// add stores a block and returns its piece when no byte of it is missing.
func (st *store) add(x *parcel) *part {
	i := int(x.span.Piece)
	fresh := st.fresh(x.span)
	if fresh == 0 {
		return nil
	}
	p := st.parts[i]
	if p == nil {
		p = &part{piece: i, cells: make([]bool, (st.size(i)+proto.Cell-1)/proto.Cell), missing: st.size(i)}
		st.parts[i] = p
	}
	for c := int(x.span.Begin) / proto.Cell; c*proto.Cell < int(x.span.Begin+x.span.Length); c++ {
		p.cells[c] = true
	}
	p.missing -= fresh
	p.bad = p.bad || x.bad
	if !slices.Contains(p.sources, x.from.ID) {
		p.sources = append(p.sources, x.from.ID)
	}
	if p.missing > 0 {
		return nil
	}
	delete(st.parts, i)
	return p
}
