package store

import (
	"math/bits"
	"sync/atomic"
)

// bitset is a set of small numbers. Any number of goroutines may read and change it
// at the same time, without a lock.
type bitset []atomic.Uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

// has reports whether i is in the set. Numbers out of range are not.
func (b bitset) has(i int) bool {
	return i >= 0 && i/64 < len(b) && b[i/64].Load()&(1<<(i%64)) != 0
}

func (b bitset) set(i int) {
	// Or writes the cache line even if the bit is set.
	if !b.has(i) {
		b[i/64].Or(1 << (i % 64))
	}
}

func (b bitset) clear(i int) { b[i/64].And(^uint64(1 << (i % 64))) }

// count returns how many numbers are in the set.
func (b bitset) count() (n int) {
	for w := range b {
		n += bits.OnesCount64(b[w].Load())
	}
	return n
}
