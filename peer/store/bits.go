package store

import (
	"math/bits"
	"sync/atomic"
)

// bitset is a set of small numbers that many goroutines read and change without
// a lock.
type bitset []atomic.Uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) has(i int) bool { return b[i/64].Load()&(1<<(i%64)) != 0 }

func (b bitset) set(i int) {
	// Or writes the cache line even when the bit is there.
	if !b.has(i) {
		b[i/64].Or(1 << (i % 64))
	}
}

func (b bitset) clear(i int) { b[i/64].And(^uint64(1 << (i % 64))) }

// takeAll empties the set and returns what was in it, ascending.
func (b bitset) takeAll() []int {
	var all []int
	for w := range b {
		for word := b[w].Swap(0); word != 0; word &= word - 1 {
			all = append(all, w*64+bits.TrailingZeros64(word))
		}
	}
	return all
}
