package stream

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/mobgrid/mob/proto"
)

// content is the bytes of one segment: [store.Bytes] that can move from memory to the spool.
type content struct {
	space  *space
	length int64

	mu     sync.RWMutex // held for one block at a time
	blocks []block
	freed  bool
}

// block is in memory, or in the spool if memory is nil.
type block struct {
	memory []byte
	spool  int64
}

// newContent returns the content of that length in these blocks of memory.
func newContent(s *space, length int64, memory [][]byte) *content {
	c := &content{space: s, length: length, blocks: make([]block, len(memory))}
	for i, b := range memory {
		c.blocks[i].memory = b
	}
	return c
}

// blocksOf returns how many blocks a number of bytes takes.
func blocksOf(length int64) int { return int((length + blockSize - 1) / blockSize) }

// size returns the bytes of block i.
func (c *content) size(i int) int { return int(min(blockSize, c.length-int64(i)*blockSize)) }

// ReadAt implements [io.ReaderAt].
func (c *content) ReadAt(p []byte, offset int64) (int, error) {
	return c.each(p, offset, func(b *block, p []byte, at int64) error {
		if b.memory == nil {
			return c.space.readSpool(p, b.spool, at)
		}
		copy(p, b.memory[at:])
		return nil
	})
}

// WriteAt implements [io.WriterAt].
func (c *content) WriteAt(p []byte, offset int64) (int, error) {
	return c.each(p, offset, func(b *block, p []byte, at int64) error {
		if b.memory == nil {
			return c.space.writeSpool(p, b.spool, at)
		}
		copy(b.memory[at:], p)
		return nil
	})
}

// each calls do for each block that has some of p, with that part and where in the block it is.
func (c *content) each(p []byte, offset int64, do func(b *block, p []byte, at int64) error) (n int, err error) {
	for n < len(p) && err == nil {
		i, at := int(offset/blockSize), offset%blockSize
		part := p[n:min(len(p), n+int(blockSize-at))]
		c.mu.RLock()
		if c.freed {
			err = os.ErrClosed
		} else {
			err = do(&c.blocks[i], part, at)
		}
		c.mu.RUnlock()
		if err == nil {
			n += len(part)
			offset += int64(len(part))
		}
	}
	return n, err
}

// toSpool moves what is in memory to the spool. It fails with [errSpoolFull] if there is no room, or the
// disk is full. Callers take turns.
func (c *content) toSpool() error {
	var stay []int
	for i := range c.blocks {
		if c.blocks[i].memory != nil {
			stay = append(stay, i)
		}
	}
	to, err := c.space.takeSpool(len(stay))
	if err != nil {
		return err
	}
	for k, i := range stay {
		if err := c.moveBlock(i, to[k]); err != nil {
			c.space.giveSpool(to[k:])
			if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
				c.space.limitSpool()
				return errSpoolFull
			}
			return err
		}
	}
	return nil
}

// moveBlock moves a block to the spool. Who reads it waits for that, and for nothing else.
func (c *content) moveBlock(i int, to int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := &c.blocks[i]
	if err := c.space.writeSpool(b.memory[:c.size(i)], to, 0); err != nil {
		return err
	}
	c.space.give(b.memory)
	b.memory, b.spool = nil, to
	return nil
}

// inMemory reports whether toSpool frees memory.
func (c *content) inMemory() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return !c.freed && c.blocks[len(c.blocks)-1].memory != nil
}

// free gives all blocks back. What uses the content fails from then on.
func (c *content) free() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.freed {
		return
	}
	c.freed = true
	for _, b := range c.blocks {
		if b.memory != nil {
			c.space.give(b.memory)
		} else {
			c.space.giveSpool([]int64{b.spool})
		}
	}
	c.blocks = nil
}

// errSpoolDamaged is returned for bytes that changed in the spool.
var errSpoolDamaged = errors.New("spool: the disk has lost bytes")

// deliver writes the content to w, and returns how much it wrote. What was in the spool is verified
// again. The content must not move or be freed meanwhile.
func (c *content) deliver(w io.Writer, m *proto.Manifest) (written int64, err error) {
	c.mu.RLock()
	blocks := c.blocks
	c.mu.RUnlock()
	var buf []byte
	for i := range blocks {
		p := blocks[i].memory
		if p != nil {
			p = p[:c.size(i)]
		} else {
			if buf == nil {
				buf = make([]byte, blockSize)
			}
			p = buf[:c.size(i)]
			if err := c.space.readSpool(p, blocks[i].spool, 0); err != nil {
				return written, err
			}
			want := m.Hash(i)
			if got := sha256.Sum256(p); !bytes.Equal(got[:], want[:]) {
				return written, errSpoolDamaged
			}
		}
		n, err := w.Write(p)
		written += int64(n)
		if err != nil {
			return written, &consumerError{err}
		}
	}
	return written, nil
}

// consumerError is the error of the consumer of a stream.
type consumerError struct{ error }

// Unwrap returns the error of the consumer.
func (e *consumerError) Unwrap() error { return e.error }
