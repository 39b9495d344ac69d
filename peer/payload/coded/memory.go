package coded

import "sync"

// blockMemory recycles the memory of blocks. Safe for concurrent use.
type blockMemory struct {
	size int // of a block, in bytes
	pool sync.Pool
}

// get returns memory for a block, of any value.
func (m *blockMemory) get() []byte {
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

// free recycles blocks that are no longer in use.
func (m *blockMemory) free(blocks ...[]byte) {
	for _, b := range blocks {
		m.pool.Put(&b)
	}
}
