// Package bitset holds sets of small numbers: pieces, blocks, generations.
//
// A [Set] is bounded, counted, and iterates over the intersection of two sets from any
// number on without allocating, all of which the picker needs for each request. The common
// libraries lack one or the other: bits-and-blooms/bitset grows to whatever number it is
// given, which here comes from a peer, and counts its bits for each Len; roaring bitmaps
// save memory that sets of at most 2^21 numbers do not take. Sets that several goroutines
// share are another thing, an array of atomics, and live with their users.
package bitset

import (
	"iter"
	"math/bits"
	"slices"

	"github.com/mobgrid/mob/proto"
)

// Set is a set of numbers below a fixed bound. A number that is not below the bound is in no
// set, and to add it changes nothing. A Set is not safe for concurrent use.
type Set struct {
	words []uint64
	n     int // the bound
	count int
}

// New returns an empty set of numbers below n. It allocates its words at the first Add.
func New(n int) *Set { return &Set{n: n} }

// Len returns how many numbers are in the set.
func (s *Set) Len() int { return s.count }

// Cap returns the bound.
func (s *Set) Cap() int { return s.n }

// Full reports whether every number below the bound is in the set.
func (s *Set) Full() bool { return s.count == s.n }

// Has reports whether i is in the set.
func (s *Set) Has(i int) bool {
	w := uint(i) >> 6
	return w < uint(len(s.words)) && s.words[w]&(1<<(i&63)) != 0
}

// Add puts i in the set, and reports whether that changed the set.
func (s *Set) Add(i int) bool {
	if i < 0 || i >= s.n || s.Has(i) {
		return false
	}
	if s.words == nil {
		s.words = make([]uint64, (s.n+63)/64)
	}
	s.words[i>>6] |= 1 << (i & 63)
	s.count++
	return true
}

// Remove takes i out of the set, and reports whether that changed the set.
func (s *Set) Remove(i int) bool {
	if !s.Has(i) {
		return false
	}
	s.words[i>>6] &^= 1 << (i & 63)
	s.count--
	return true
}

// AddRange puts the numbers first <= i < end in the set.
func (s *Set) AddRange(first, end int) {
	for i := first; i < end; i++ {
		s.Add(i)
	}
}

// RemoveRange takes the numbers first <= i < end out of the set.
func (s *Set) RemoveRange(first, end int) {
	for i := first; i < end; i++ {
		s.Remove(i)
	}
}

// Count returns how many of the numbers first <= i < end are in the set. It panics if the set is not
// empty and the range is not within the bound.
func (s *Set) Count(first, end int) int {
	if s.count == 0 {
		return 0
	}
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

// Clear empties the set, and frees its words.
func (s *Set) Clear() { s.words, s.count = nil, 0 }

// Clone returns a copy.
func (s *Set) Clone() *Set {
	return &Set{words: slices.Clone(s.words), n: s.n, count: s.count}
}

// Pick returns a number that is in the set and not in the set without, which has the same
// bound or is nil: of the n there are it is the one with the index that choose(n) returns. ok
// is false if there is none.
func (s *Set) Pick(without *Set, choose func(n int) int) (i int, ok bool) {
	left := s.Clone()
	if without != nil {
		for i := range without.All() {
			left.Remove(i)
		}
	}
	if left.Len() == 0 {
		return 0, false
	}
	nth := choose(left.Len())
	for i = range left.All() {
		if nth--; nth < 0 {
			break
		}
	}
	return i, true
}

// All iterates over the set in order. The set may change meanwhile: what is removed or added
// within the next 64 numbers may not be seen.
func (s *Set) All() iter.Seq[int] { return s.Intersection(s, 0) }

// Intersection iterates over the numbers that are in t as well, which has the same bound. It
// begins at the multiple of 64 before from, and wraps around.
func (s *Set) Intersection(t *Set, from int) iter.Seq[int] {
	return func(yield func(int) bool) {
		a, b := s.words, t.words
		if len(b) == 0 {
			return
		}
		for k := range a {
			w := from>>6 + k
			if w >= len(a) {
				w -= len(a)
			}
			for word := a[w] & b[w]; word != 0; word &= word - 1 {
				if !yield(w<<6 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// Ranges returns the set as ranges.
func (s *Set) Ranges() []proto.Range {
	var rs []proto.Range
	for i := range s.All() {
		rs = Append(rs, i)
	}
	return rs
}

// Append adds a number to ranges. It grows the last range if the number follows it.
func Append(rs []proto.Range, i int) []proto.Range {
	if k := len(rs) - 1; k >= 0 && rs[k].End() == uint64(i) {
		rs[k].Count++
		return rs
	}
	return append(rs, proto.Range{First: uint32(i), Count: 1})
}

// Numbers iterates over the numbers of ranges that are below n.
func Numbers(rs []proto.Range, n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, r := range rs {
			for i := int(r.First); i < n && uint64(i) < r.End(); i++ {
				if !yield(i) {
					return
				}
			}
		}
	}
}
