package peer

import (
	"sync"

	"github.com/mobgrid/mob/proto"
)

// blocks recycles the buffers that hold one block and its header.
//
//nolint:gochecknoglobals // a pool is process-wide by nature, and holds no state
var blocks bufferPool

type bufferPool struct{ pool sync.Pool }

// Buffer holds a block.
type Buffer struct {
	// B is the block's bytes.
	B    []byte
	full [proto.BlockHeader + proto.MaxBlock]byte
}

// get returns a buffer whose B has n bytes.
func (p *bufferPool) get(n int) *Buffer {
	buf, _ := p.pool.Get().(*Buffer)
	if buf == nil {
		buf = new(Buffer)
	}
	buf.B = buf.full[:n]
	return buf
}

func (p *bufferPool) put(buf *Buffer) { p.pool.Put(buf) }
