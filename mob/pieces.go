package mob

import (
	"math/bits"

	"github.com/mobgrid/mob/proto"
)

// Pieces is a set of piece numbers below a fixed bound. A number that is not
// below it is in no set, and adding it changes nothing: numbers come from peers.
type Pieces struct {
	words []uint64
	n     int // the bound
	count int
}

// NewPieces is an empty set of numbers below n.
func NewPieces(n int) *Pieces { return &Pieces{words: make([]uint64, (n+63)/64), n: n} }

// Len is the number of pieces in the set.
func (s *Pieces) Len() int { return s.count }

// Cap is the bound.
func (s *Pieces) Cap() int { return s.n }

// Full says whether every piece below the bound is in the set.
func (s *Pieces) Full() bool { return s.count == s.n }

// Has says whether i is in the set.
func (s *Pieces) Has(i int) bool { return i >= 0 && i < s.n && s.words[i>>6]&(1<<(i&63)) != 0 }

// Add puts i in the set and says whether that changed it.
func (s *Pieces) Add(i int) bool {
	if i < 0 || i >= s.n || s.Has(i) {
		return false
	}
	s.words[i>>6] |= 1 << (i & 63)
	s.count++
	return true
}

// Remove takes i out of the set and says whether that changed it.
func (s *Pieces) Remove(i int) bool {
	if !s.Has(i) {
		return false
	}
	s.words[i>>6] &^= 1 << (i & 63)
	s.count--
	return true
}

// AddRange puts first <= i < end in the set.
func (s *Pieces) AddRange(first, end int) {
	for i := first; i < end; i++ {
		s.Add(i)
	}
}

// Clear empties the set.
func (s *Pieces) Clear() {
	clear(s.words)
	s.count = 0
}

// Each calls f for every piece in the set, in order.
func (s *Pieces) Each(f func(i int)) {
	for w, word := range s.words {
		for ; word != 0; word &= word - 1 {
			f(w<<6 + bits.TrailingZeros64(word))
		}
	}
}

// Ranges lists the set as ranges.
func (s *Pieces) Ranges() []proto.Range {
	var rs []proto.Range
	s.Each(func(i int) { rs = appendPiece(rs, i) })
	return rs
}

// appendPiece adds a piece to ranges, growing the last one where it fits.
func appendPiece(rs []proto.Range, i int) []proto.Range {
	if k := len(rs) - 1; k >= 0 && rs[k].End() == uint64(i) {
		rs[k].Count++
		return rs
	}
	return append(rs, proto.Range{First: uint32(i), Count: 1})
}

// eachPiece calls f for every piece of rs below n.
func eachPiece(rs []proto.Range, n int, f func(i int)) {
	for _, r := range rs {
		for i := int(r.First); i < n && uint64(i) < r.End(); i++ {
			f(i)
		}
	}
}
