package coded

import "sync"

// room recycles the memory of blocks. Safe for concurrent use.
type room struct {
	size int // of a block
	pool sync.Pool
}

// get is memory for a block, with anything in it.
func (r *room) get() []byte {
	if b, ok := r.pool.Get().(*[]byte); ok {
		return *b
	}
	return make([]byte, r.size)
}

// put takes back what nobody uses any more.
func (r *room) put(blocks ...[]byte) {
	for _, b := range blocks {
		r.pool.Put(&b)
	}
}
