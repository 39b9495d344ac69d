package peer

import "sync/atomic"

// bitmap is the set of pieces that may be served. Safe for concurrent use.
type bitmap []atomic.Uint64

func newBitmap(n int) bitmap { return make(bitmap, (n+63)/64) }

func (b bitmap) has(i uint32) bool {
	w := int(i >> 6)
	return w < len(b) && b[w].Load()&(1<<(i&63)) != 0
}

// add says whether the piece is new.
func (b bitmap) add(i uint32) bool {
	bit := uint64(1) << (i & 63)
	return b[i>>6].Or(bit)&bit == 0
}

func (b bitmap) remove(i uint32) { b[i>>6].And(^uint64(1 << (i & 63))) }
