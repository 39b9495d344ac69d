package payload

import (
	"sync"

	"github.com/mobgrid/mob/proto"
)

// Buffer holds one block, with or without its header. Buffers are pooled: call
// [Buffer.Release] when B is no longer in use.
type Buffer struct {
	B     []byte
	array [proto.GossipHeader + proto.MaxGossip]byte // fits the longest frame
}

//nolint:gochecknoglobals // a pool is process-wide by nature, and holds no state
var buffers = sync.Pool{New: func() any { return new(Buffer) }}

// GetBuffer returns a buffer whose B has n bytes, of any value.
func GetBuffer(n int) *Buffer {
	b, _ := buffers.Get().(*Buffer)
	b.B = b.array[:n]
	return b
}

// Release returns the buffer to the pool.
func (b *Buffer) Release() { buffers.Put(b) }
