package coded

import (
	"sync"
	"sync/atomic"
)

// blockMemory counts and recycles the memory of blocks. Safe for concurrent use.
type blockMemory struct {
	size  int          // of a block, in bytes
	bytes atomic.Int64 // of all blocks that are counted
	pool  sync.Pool
}

// get returns memory for a block, of any value, and counts it.
func (m *blockMemory) get() []byte {
	m.count(1)
	if b, ok := m.pool.Get().(*[]byte); ok {
		return *b
	}
	return make([]byte, m.size)
}

// getAll returns memory for n blocks.
func (m *blockMemory) getAll(n int) [][]byte {
	blocks := make([][]byte, n)
	for i := range blocks {
		blocks[i] = m.get()
	}
	return blocks
}

// free recycles counted blocks that are no longer in use.
func (m *blockMemory) free(blocks ...[]byte) {
	m.count(-len(blocks))
	m.recycle(blocks...)
}

// recycle recycles blocks that are no longer counted.
func (m *blockMemory) recycle(blocks ...[]byte) {
	for _, b := range blocks {
		m.pool.Put(&b)
	}
}

// count changes how many blocks are counted.
func (m *blockMemory) count(blocks int) { m.bytes.Add(int64(blocks * m.size)) }
