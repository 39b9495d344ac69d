package stream

import (
	"crypto/sha256"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/mobgrid/mob/proto"
)

// piece is up to [pieceSize] bytes of a stream, in memory or in the spool. Its memory is reserved, and allocated when bytes are
// written.
type piece struct {
	space *space
	size  int
	sum   [sha256.Size]byte
	left  atomic.Uint32 // bits of the cells that the sender has sent

	stored func() // called when the piece is verified; may be nil

	mu      sync.RWMutex
	memory  []byte // nil before the first write, in the spool and when freed
	spool   int64
	spooled bool
	freed   bool
}

// read copies bytes at an offset to b.
func (p *piece) read(b []byte, at int) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	switch {
	case p.spooled:
		return p.space.readSpool(b, p.spool, int64(at))
	case p.memory == nil:
		return os.ErrClosed
	}
	copy(b, p.memory[at:p.size])
	return nil
}

// write copies b to an offset. The caller prevents concurrent reads of these bytes and calls of toSpool.
func (p *piece) write(b []byte, at int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.spooled || p.freed:
		return os.ErrClosed
	case p.memory == nil:
		p.memory = p.space.take()
	}
	copy(p.memory[at:p.size], b)
	return nil
}

// inMemory reports whether toSpool frees memory.
func (p *piece) inMemory() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.memory != nil
}

// toSpool moves the piece to the spool. It returns [errSpoolFull] if the spool or the disk is full. Reads wait for it.
func (p *piece) toSpool() error {
	to, err := p.space.takeSpool()
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.space.writeSpool(p.memory[:p.size], to, 0); err != nil {
		p.space.giveSpool(to)
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			p.space.limitSpool()
			return errSpoolFull
		}
		return err
	}
	p.space.give(p.memory)
	p.memory, p.spool, p.spooled = nil, to, true
	return nil
}

// free frees the bytes. Later reads fail.
func (p *piece) free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.freed:
		return
	case p.spooled:
		p.space.giveSpool(p.spool)
	default:
		p.space.give(p.memory)
	}
	p.memory, p.spooled, p.freed = nil, false, true
}

// leave records that bytes were sent, and returns the number of bytes that were sent for the first time.
func (p *piece) leave(from, to int) (fresh int64) {
	var cells uint32
	for at := from / proto.Cell; at*proto.Cell < to; at++ {
		cells |= 1 << at
	}
	cells &^= p.left.Or(cells)
	for at := range pieceSize / proto.Cell {
		if cells&(1<<at) != 0 {
			fresh += int64(min(proto.Cell, p.size-at*proto.Cell))
		}
	}
	return fresh
}

// hasLeft reports whether all bytes of the piece were sent.
func (p *piece) hasLeft() bool {
	cells := (p.size + proto.Cell - 1) / proto.Cell
	return p.left.Load() == 1<<cells-1
}

var errSpoolDamaged = errors.New("spool: data is corrupt")

// bytes returns the bytes of the piece. Bytes in the spool are read to buf, of [pieceSize], and verified again. The piece must
// not be moved or freed while they are used.
func (p *piece) bytes(buf []byte) ([]byte, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	switch {
	case p.memory != nil:
		return p.memory[:p.size], nil
	case !p.spooled:
		return nil, os.ErrClosed
	}
	b := buf[:p.size]
	if err := p.space.readSpool(b, p.spool, 0); err != nil {
		return nil, err
	}
	if sha256.Sum256(b) != p.sum {
		return nil, errSpoolDamaged
	}
	return b, nil
}
