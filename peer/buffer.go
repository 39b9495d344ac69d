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

type buffer struct {
	b    []byte
	full [proto.BlockHeader + proto.MaxBlock]byte
}

// get returns a buffer whose b has n bytes.
func (p *bufferPool) get(n int) *buffer {
	buf, _ := p.pool.Get().(*buffer)
	if buf == nil {
		buf = new(buffer)
	}
	buf.b = buf.full[:n]
	return buf
}

func (p *bufferPool) put(buf *buffer) { p.pool.Put(buf) }
