package store

import (
	"io"
	"os"
	"slices"
	"sync"

	"github.com/mobgrid/mob/proto"
)

// Memory is a [Store] that nothing outlasts: which pieces are verified is in memory, and the bytes
// are where its caller wants them. Reading a range while it is written is a data race.
type Memory struct {
	m        *proto.Manifest
	layout   layout
	bytes    Bytes
	verified bitset

	mu       sync.Mutex // guards what follows
	finished bool
	closed   bool
}

// Bytes holds the bytes of a [Memory]. Calls are within the length of the content, and concurrent.
// ReadAt reads all that it is asked for, or fails.
type Bytes interface {
	io.ReaderAt
	io.WriterAt
}

// NewMemory returns an empty store for m, which must be valid, with its bytes in memory.
func NewMemory(m *proto.Manifest) *Memory { return NewMemoryOf(m, make(array, m.Length())) }

// NewMemoryOf returns an empty store for m, which must be valid, with its bytes in b. Closing the store
// does not close b.
func NewMemoryOf(m *proto.Manifest, b Bytes) *Memory {
	return &Memory{m: m, layout: newLayout(m), bytes: b, verified: newBitset(m.Pieces())}
}

// array is Bytes in one slice.
type array []byte

// ReadAt implements [io.ReaderAt].
func (a array) ReadAt(p []byte, offset int64) (int, error) { return copy(p, a[offset:]), nil }

// WriteAt implements [io.WriterAt].
func (a array) WriteAt(p []byte, offset int64) (int, error) { return copy(a[offset:], p), nil }

// ReadAt implements [io.ReaderAt].
func (s *Memory) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 {
		return 0, errNegativeOffset
	}
	all := len(p)
	p = p[:max(min(int64(all), s.m.Length()-offset), 0)]
	if len(p) > 0 {
		if n, err := s.bytes.ReadAt(p, offset); err != nil {
			return n, err
		}
	}
	return len(p), eofUnless(len(p) == all)
}

// WriteAt implements [io.WriterAt].
func (s *Memory) WriteAt(p []byte, offset int64) (int, error) {
	s.mu.Lock()
	finished, closed := s.finished, s.closed
	s.mu.Unlock()
	if closed {
		return 0, os.ErrClosed
	}
	if finished {
		return 0, ErrReadOnly
	}
	if err := checkWrite(s.m, s.verified, nil, len(p), offset); err != nil {
		return 0, err
	}
	if s.layout.pads != nil {
		p = slices.Clone(p)
		s.layout.clearPads(p, offset)
	}
	return s.bytes.WriteAt(p, offset)
}

// Has implements [Store].
func (s *Memory) Has(piece int) bool { return s.verified.has(piece) }

// Count implements [Store].
func (s *Memory) Count() int { return s.verified.count() }

// Commit implements [Store].
func (s *Memory) Commit(piece int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(piece); err != nil {
		return err
	}
	s.verified.set(piece)
	return nil
}

// Forget implements [Store].
func (s *Memory) Forget(piece int) error {
	if err := checkPiece(s.m, piece); err != nil {
		return err
	}
	s.verified.clear(piece)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished = false
	return s.check(piece)
}

// Publish implements [Store].
func (s *Memory) Publish() error { return s.Finish() }

// Finish implements [Store].
func (s *Memory) Finish() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return os.ErrClosed
	}
	if s.Count() < s.m.Pieces() {
		return ErrNotWhole
	}
	s.finished = true
	return nil
}

// Close implements [io.Closer].
func (s *Memory) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// check returns why the record of a piece cannot be changed. The caller holds the lock.
func (s *Memory) check(piece int) error {
	if s.closed {
		return os.ErrClosed
	}
	return checkPiece(s.m, piece)
}
