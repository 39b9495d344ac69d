package payload

import (
	"sync"

	"github.com/mobgrid/mob/proto"
)

// buffers recycles the buffers that hold one block and its header.
//
//nolint:gochecknoglobals // a pool is process-wide by nature, and holds no state
var buffers bufferPool

type bufferPool struct{ pool sync.Pool }

// Buffer holds a block.
type Buffer struct {
	// B is the block's bytes.
	B    []byte
	full [proto.GossipHeader + proto.MaxGossip]byte // the most of all frames
}

// Get returns a buffer whose B has n bytes.
func Get(n int) *Buffer { return buffers.get(n) }

// Put gives a buffer back.
func Put(b *Buffer) { buffers.pool.Put(b) }

func (p *bufferPool) get(n int) *Buffer {
	buf, _ := p.pool.Get().(*Buffer)
	if buf == nil {
		buf = new(Buffer)
	}
	buf.B = buf.full[:n]
	return buf
}
