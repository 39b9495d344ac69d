package store

import (
	"io"
	"os"
	"sync"

	"github.com/mobgrid/mob/proto"
)

// Memory is a [Store] in memory, for tests and simulations. Reading a range while it is
// written is a data race.
type Memory struct {
	m        *proto.Manifest
	layout   layout
	data     []byte
	verified bitset

	mu       sync.Mutex // guards what follows
	finished bool
	closed   bool
}

// NewMemory returns an empty store for m, which must be valid.
func NewMemory(m *proto.Manifest) *Memory {
	return &Memory{m: m, layout: newLayout(m), data: make([]byte, m.Length()), verified: newBitset(m.Pieces())}
}

// ReadAt implements [io.ReaderAt].
func (s *Memory) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 {
		return 0, errNegativeOffset
	}
	if offset > int64(len(s.data)) {
		return 0, io.EOF
	}
	n := copy(p, s.data[offset:])
	return n, eofUnless(n == len(p))
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
	n := copy(s.data[offset:], p)
	s.layout.clearPads(s.data[offset:offset+int64(n)], offset)
	return n, nil
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
