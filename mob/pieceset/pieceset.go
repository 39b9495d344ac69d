// Package pieceset holds sets of piece numbers. It is pure: no clock, lock or file.
package pieceset

import (
	"math/bits"
	"slices"

	"github.com/mobgrid/mob/proto"
)

// Set is a set of piece numbers below a fixed bound. A number that is not
// below it is in no set, and adding it changes nothing: numbers come from peers.
type Set struct {
	words []uint64
	n     int // the bound
	count int
}

// New is an empty set of numbers below n.
func New(n int) *Set { return &Set{words: make([]uint64, (n+63)/64), n: n} }

// Len is the number of pieces in the set.
func (s *Set) Len() int { return s.count }

// Cap is the bound.
func (s *Set) Cap() int { return s.n }

// Full says whether every piece below the bound is in the set.
func (s *Set) Full() bool { return s.count == s.n }

// Has says whether i is in the set.
func (s *Set) Has(i int) bool { return i >= 0 && i < s.n && s.words[i>>6]&(1<<(i&63)) != 0 }

// Add puts i in the set and says whether that changed it.
func (s *Set) Add(i int) bool {
	if i < 0 || i >= s.n || s.Has(i) {
		return false
	}
	s.words[i>>6] |= 1 << (i & 63)
	s.count++
	return true
}

// Remove takes i out of the set and says whether that changed it.
func (s *Set) Remove(i int) bool {
	if !s.Has(i) {
		return false
	}
	s.words[i>>6] &^= 1 << (i & 63)
	s.count--
	return true
}

// AddRange puts first <= i < end in the set.
func (s *Set) AddRange(first, end int) {
	for i := first; i < end; i++ {
		s.Add(i)
	}
}

// CountIn is the number of pieces in the set with first <= i < end, which must be
// within the bound.
func (s *Set) CountIn(first, end int) int {
	n := 0
	for w := first >> 6; w<<6 < end; w++ {
		word := s.words[w]
		if low := first - w<<6; low > 0 {
			word &= ^uint64(0) << low
		}
		if high := end - w<<6; high < 64 {
			word &= 1<<high - 1
		}
		n += bits.OnesCount64(word)
	}
	return n
}

// Clear empties the set.
func (s *Set) Clear() {
	clear(s.words)
	s.count = 0
}

// Clone is a copy.
func (s *Set) Clone() *Set {
	return &Set{words: slices.Clone(s.words), n: s.n, count: s.count}
}

// Pick is a piece of the set that is not in the set without, the one that choose
// takes out of so many, from 0; none when there is none. Both sets have one bound.
// A nil set is empty.
func (s *Set) Pick(without *Set, choose func(n int) int) (i int, ok bool) {
	left := func(w int) uint64 {
		if without == nil {
			return s.words[w]
		}
		return s.words[w] &^ without.words[w]
	}
	n := 0
	for w := range s.words {
		n += bits.OnesCount64(left(w))
	}
	if n == 0 {
		return 0, false
	}
	nth := choose(n)
	for w := range s.words {
		word := left(w)
		if c := bits.OnesCount64(word); nth >= c {
			nth -= c
			continue
		}
		for ; nth > 0; nth-- {
			word &= word - 1
		}
		return w<<6 + bits.TrailingZeros64(word), true
	}
	return 0, false
}

// Each calls f for every piece in the set, in order.
func (s *Set) Each(f func(i int)) {
	for w, word := range s.words {
		for ; word != 0; word &= word - 1 {
			f(w<<6 + bits.TrailingZeros64(word))
		}
	}
}

// Any reports whether f says so of a piece in the set. It asks in order, and no
// further than that.
func (s *Set) Any(f func(i int) bool) bool { return s.AnyOfBoth(s, 0, f) }

// AnyOfBoth is Any for the pieces that are in t too, which has the same bound. It begins
// near the piece from, and goes round.
func (s *Set) AnyOfBoth(t *Set, from int, f func(i int) bool) bool {
	for k := range s.words {
		w := from>>6 + k
		if w >= len(s.words) {
			w -= len(s.words)
		}
		for word := s.words[w] & t.words[w]; word != 0; word &= word - 1 {
			if f(w<<6 + bits.TrailingZeros64(word)) {
				return true
			}
		}
	}
	return false
}

// Ranges lists the set as ranges.
func (s *Set) Ranges() []proto.Range {
	var rs []proto.Range
	s.Each(func(i int) { rs = Append(rs, i) })
	return rs
}

// Append adds a piece to ranges, growing the last one where it fits.
func Append(rs []proto.Range, i int) []proto.Range {
	if k := len(rs) - 1; k >= 0 && rs[k].End() == uint64(i) {
		rs[k].Count++
		return rs
	}
	return append(rs, proto.Range{First: uint32(i), Count: 1})
}

// Each calls f for every piece of rs below n.
func Each(rs []proto.Range, n int, f func(i int)) {
	for _, r := range rs {
		for i := int(r.First); i < n && uint64(i) < r.End(); i++ {
			f(i)
		}
	}
}
