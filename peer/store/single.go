package store

import (
	"os"
	"sync/atomic"

	"github.com/mobgrid/mob/proto"
)

// Single is a [Store] of a single file that is open, and may have no name. It has no journal, and cannot be opened again.
type Single struct {
	pieces
	file      *os.File
	published atomic.Bool
	closed    atomic.Bool
}

// NewSingle returns an empty store of m, whose bytes will be in f. Close closes f.
func NewSingle(m *proto.Manifest, f *os.File) (*Single, error) {
	return &Single{pieces: newPieces(m), file: f}, f.Truncate(m.Length())
}

// SeedSingle returns a store of m, whose bytes are in f. Close closes f.
func SeedSingle(m *proto.Manifest, f *os.File) *Single {
	s := &Single{pieces: newPieces(m), file: f}
	for i := range m.Pieces() {
		s.verified.set(i)
	}
	return s
}

// ReadAt implements [io.ReaderAt].
func (s *Single) ReadAt(p []byte, offset int64) (int, error) { return s.file.ReadAt(p, offset) }

// WriteAt implements [io.WriterAt].
func (s *Single) WriteAt(p []byte, offset int64) (int, error) {
	if s.published.Load() {
		return 0, ErrReadOnly
	}
	if err := s.pieces.write(len(p), offset); err != nil {
		return 0, err
	}
	return s.file.WriteAt(p, offset)
}

// Commit implements [Store].
func (s *Single) Commit(piece int) error {
	err := s.check(piece)
	if err == nil {
		s.verified.set(piece)
	}
	return err
}

// Forget implements [Store].
func (s *Single) Forget(piece int) error {
	if err := checkPiece(s.m, piece); err != nil {
		return err
	}
	s.verified.clear(piece)
	s.published.Store(false)
	return s.check(piece)
}

// check returns why the record of a piece cannot be changed.
func (s *Single) check(piece int) error {
	if s.closed.Load() {
		return os.ErrClosed
	}
	return checkPiece(s.m, piece)
}

// Publish implements [Store].
func (s *Single) Publish() error { return s.Finish() }

// Finish implements [Store]. It does not wait for the disk, since nothing is left after a crash.
func (s *Single) Finish() error {
	switch {
	case s.closed.Load():
		return os.ErrClosed
	case s.Count() < s.m.Pieces():
		return ErrNotWhole
	}
	s.published.Store(true)
	return nil
}

// Close implements [io.Closer].
func (s *Single) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	return s.file.Close()
}
