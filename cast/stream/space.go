package stream

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/mobgrid/mob/peer/datadir"
)

// maxMemory bounds what one side keeps in memory, in blocks.
const maxMemory = 128 << 20 / pieceSize

var errSpoolFull = errors.New("the spool is full")

// space stores the pieces of one side of a stream, in blocks of memory and of the spool, a file without a name. Blocks are
// reused, so neither grows with the stream. Where possible, blocks of memory are outside Go's heap, whose garbage may grow to
// the size of the live data. It is safe for concurrent use.
type space struct {
	dir string

	mu        sync.Mutex
	maxMemory int      // blocks
	maxSpool  int      // blocks
	memory    int      // reserved blocks
	arena     []byte   // blocks that were never used
	free      [][]byte // used blocks
	spool     int      // blocks of the file in use
	holes     []int64  // free blocks of the file
	end       int64    // blocks of the file
	file      *os.File // nil before the first use
}

func newSpace(dir string, spool int64) *space {
	s := &space{dir: dir, maxMemory: maxMemory, maxSpool: int(max(spool, 0) / pieceSize)}
	s.arena = newArena(s, maxMemory)
	return s
}

// reserve reserves a block of memory, and reports whether there was one. force exceeds the limit.
func (s *space) reserve(force bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory >= s.maxMemory && !force {
		return false
	}
	s.memory++
	return true
}

// take returns a reserved block with arbitrary bytes: the one that was used last, since new memory costs page faults.
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

// give frees a reserved block, nil if it was not taken.
func (s *space) give(block []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memory--
	if block != nil {
		s.free = append(s.free, block)
	}
}

// takeSpool returns a block of the spool, or [errSpoolFull].
func (s *space) takeSpool() (block int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spool >= s.maxSpool {
		return 0, errSpoolFull
	}
	if s.file == nil {
		f, err := datadir.Unnamed(s.dir)
		if err != nil {
			return 0, fmt.Errorf("spool: %w", err)
		}
		s.file = f
	}
	s.spool++
	if last := len(s.holes) - 1; last >= 0 {
		block, s.holes = s.holes[last], s.holes[:last]
		return block, nil
	}
	s.end++
	return s.end - 1, nil
}

// giveSpool frees a block of the spool. The file is truncated when none is used.
func (s *space) giveSpool(block int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spool--
	s.holes = append(s.holes, block)
	if s.spool == 0 && s.file != nil {
		_ = s.file.Truncate(0) // else closing the file frees the disk
		s.holes, s.end = nil, 0
	}
}

// limitSpool keeps the spool at its size, since the disk is full.
func (s *space) limitSpool() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.maxSpool = min(s.maxSpool, s.spool)
}

// readSpool reads from an offset in a block of the spool.
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

// close closes the spool. No block may be used.
func (s *space) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = nil
	if s.file != nil {
		_ = s.file.Close()
	}
}
