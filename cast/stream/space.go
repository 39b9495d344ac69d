package stream

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// maxMemory bounds what one side keeps in memory, in blocks.
const maxMemory = 128 << 20 / pieceSize

// errSpoolFull is returned while the spool has no room.
var errSpoolFull = errors.New("the spool is full")

// space is where one side of a stream keeps its pieces: in blocks of memory, and in those of the spool, a
// file without a name. Both are used again, so that neither grows with the stream. A block has room for
// a piece. Blocks of memory are not of Go's heap, where this is possible: its garbage may grow to as much as
// it has in use. It is safe for concurrent use.
type space struct {
	dir string

	mu        sync.Mutex
	maxMemory int      // blocks
	maxSpool  int      // blocks
	memory    int      // blocks that are reserved
	arena     []byte   // of blocks that were never in use
	free      [][]byte // blocks that were
	spool     int      // blocks of the file in use
	holes     []int64  // blocks of the file that were in use
	end       int64    // blocks of the file
	file      *os.File // nil before the first use
}

func newSpace(dir string, spool int64) *space {
	s := &space{dir: dir, maxMemory: maxMemory, maxSpool: int(max(spool, 0) / pieceSize)}
	s.arena = newArena(s, maxMemory)
	return s
}

// reserve reserves a block of memory, and reports whether there is one. force reserves one in any case.
func (s *space) reserve(force bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory >= s.maxMemory && !force {
		return false
	}
	s.memory++
	return true
}

// take returns a block that was reserved, of any content. The one that was in use last comes first: the
// kernel takes long to bring in memory that was never used.
func (s *space) take() (block []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.free) - 1; last >= 0 {
		block, s.free = s.free[last], s.free[:last]
		return block
	}
	if len(s.arena) == 0 {
		return make([]byte, pieceSize)
	}
	block, s.arena = s.arena[:pieceSize:pieceSize], s.arena[pieceSize:]
	return block
}

// give takes a block that was reserved back, nil if it was not taken.
func (s *space) give(block []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memory--
	if block != nil {
		s.free = append(s.free, block)
	}
}

// takeSpool returns a block of the spool. It fails with [errSpoolFull].
func (s *space) takeSpool() (block int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spool >= s.maxSpool {
		return 0, errSpoolFull
	}
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "mob-spool-*")
		if err != nil {
			return 0, fmt.Errorf("spool: %w", err)
		}
		s.file = f
		if err := os.Remove(f.Name()); err != nil {
			return 0, fmt.Errorf("spool: %w", err)
		}
	}
	s.spool++
	if last := len(s.holes) - 1; last >= 0 {
		block, s.holes = s.holes[last], s.holes[:last]
		return block, nil
	}
	s.end++
	return s.end - 1, nil
}

// giveSpool takes a block of the spool back. It frees the disk when none is in use.
func (s *space) giveSpool(block int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spool--
	s.holes = append(s.holes, block)
	if s.spool == 0 && s.file != nil {
		_ = s.file.Truncate(0) // or the disk is free when the file is closed
		s.holes, s.end = nil, 0
	}
}

// limitSpool makes do with the spool as it is, since the disk is full.
func (s *space) limitSpool() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.maxSpool = min(s.maxSpool, s.spool)
}

// used returns the bytes that are reserved or in use.
func (s *space) used() (memory, spool int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.memory) * pieceSize, int64(s.spool) * pieceSize
}

// readSpool reads the begin of a block of the spool, and writeSpool writes it.
func (s *space) readSpool(p []byte, block, offset int64) error {
	if _, err := s.file.ReadAt(p, block*pieceSize+offset); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	return nil
}

func (s *space) writeSpool(p []byte, block, offset int64) error {
	if _, err := s.file.WriteAt(p, block*pieceSize+offset); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	return nil
}

// close closes the spool. Nothing must be in use.
func (s *space) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = nil
	if s.file != nil {
		_ = s.file.Close()
	}
}
