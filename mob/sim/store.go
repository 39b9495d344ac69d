package sim

import (
	"slices"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// store is the pieces that a node has, and those that it assembles. In a coded transfer
// pieces are blocks, and in permutation gossip generations.
type store struct {
	length int64
	piece  int
	has    *bitset.Set
	parts  map[int]*part
	// suspects has, for pieces that were bad when they came from several peers, whose parts were false.
	suspects map[int][]proto.PeerID
}

// part is a piece that is not complete.
type part struct {
	piece      int
	cells      []bool
	missing    int            // bytes
	corrupters []proto.PeerID // who sent false parts of it
	sources    []proto.PeerID
}

func newStore(c *Config) *store {
	st := &store{length: c.Length, piece: c.PieceLength, parts: map[int]*part{}, suspects: map[int][]proto.PeerID{}}
	n := c.pieces()
	switch k := max(c.Coding.Blocks, c.Generation); {
	case c.Strategy.Gossip():
		n = (n + k - 1) / k
	case k > 0:
		n = (n + k - 1) / k * c.Coding.Names
		st.length = int64(n) * int64(c.PieceLength)
	}
	st.has = bitset.New(n)
	return st
}

// size is the length of a piece in bytes.
func (st *store) size(i int) int {
	return int(min(int64(st.piece), st.length-int64(i)*int64(st.piece)))
}

// missingBytes counts the bytes of a span that are not stored.
func (st *store) missingBytes(sp proto.Span) int {
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

// add stores a block, and returns its piece when no byte of that is missing any more.
func (st *store) add(f *frame) *part {
	i := int(f.span.Piece)
	missingBytes := st.missingBytes(f.span)
	if missingBytes == 0 {
		return nil
	}
	p := st.parts[i]
	if p == nil {
		p = &part{piece: i, cells: make([]bool, (st.size(i)+proto.Cell-1)/proto.Cell), missing: st.size(i)}
		st.parts[i] = p
	}
	for c := int(f.span.Begin) / proto.Cell; c*proto.Cell < int(f.span.Begin+f.span.Length); c++ {
		p.cells[c] = true
	}
	p.missing -= missingBytes
	if f.bad && !slices.Contains(p.corrupters, f.from.ID) {
		p.corrupters = append(p.corrupters, f.from.ID)
	}
	if !slices.Contains(p.sources, f.from.ID) {
		p.sources = append(p.sources, f.from.ID)
	}
	if p.missing > 0 {
		return nil
	}
	delete(st.parts, i)
	return p
}
