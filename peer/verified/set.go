// Package verified knows which pieces are verified, stored and may be served.
package verified

import "sync/atomic"

// Set is a set of pieces. Safe for concurrent use, without locks: readers serve while
// others store.
type Set []atomic.Uint64

// New is an empty set for n pieces.
func New(n int) Set { return make(Set, (n+63)/64) }

// Has says whether a piece is in it. None beyond the end is.
func (s Set) Has(piece uint32) bool {
	w := int(piece >> 6)
	return w < len(s) && s[w].Load()&(1<<(piece&63)) != 0
}

// Add puts a piece in, and says whether it is new.
func (s Set) Add(piece uint32) bool {
	bit := uint64(1) << (piece & 63)
	return s[piece>>6].Or(bit)&bit == 0
}

// Remove takes a piece out.
func (s Set) Remove(piece uint32) { s[piece>>6].And(^uint64(1 << (piece & 63))) }
