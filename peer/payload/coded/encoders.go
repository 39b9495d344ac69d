package coded

import (
	"slices"
	"sync"

	"github.com/mobgrid/mob/mob/rlnc"
)

// encoder makes blocks of a complete generation, whose source blocks are in memory.
type encoder struct {
	blocks [][]byte
	code   *rlnc.Encoder
}

func newEncoder(blocks [][]byte) (*encoder, error) {
	code, err := rlnc.NewEncoder(blocks)
	return &encoder{blocks, code}, err
}

// encode writes the block of a name to dst.
func (e *encoder) encode(dst []byte, name int) error {
	if name < len(e.blocks) {
		copy(dst, e.blocks[name])
		return nil
	}
	var vector [rlnc.MaxK]byte
	v := vector[:len(e.blocks)]
	rlnc.Named(v, name)
	return e.code.Encode(dst, v)
}

// encoders caches the encoders of the complete generations that were used last. Safe for
// concurrent use.
type encoders struct {
	disk   *disk
	memory *blockMemory
	max    int // number of encoders that are cached, at least one

	mu     sync.Mutex
	cached []*cachedEncoder // in the order of their last use
}

// cachedEncoder is an encoder in the cache.
type cachedEncoder struct {
	number  int
	load    func() (*encoder, error) // reads it once
	users   int                      // goroutines that use the encoder or wait for it
	evicted bool                     // the last user frees the blocks
}

func newEncoders(d *disk, m *blockMemory, most int) encoders {
	return encoders{disk: d, memory: m, max: max(most, 1)}
}

// add caches the source blocks of a decoded generation.
func (s *encoders) add(number int, blocks [][]byte) error {
	e, err := newEncoder(blocks)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(&cachedEncoder{number: number, load: func() (*encoder, error) { return e, nil }})
	return nil
}

// use calls f with the encoder of a complete generation. One that is not cached is read from the store,
// once for all concurrent callers.
func (s *encoders) use(number int, f func(*encoder) error) error {
	x := s.get(number)
	defer s.done(x)
	e, err := x.load()
	if err != nil {
		s.drop(number)
		return err
	}
	return f(e)
}

// get returns the encoder of a generation, most recently used from now on. The caller calls done.
func (s *encoders) get(number int) *cachedEncoder {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.cached, func(x *cachedEncoder) bool { return x.number == number })
	var x *cachedEncoder
	if i < 0 {
		x = &cachedEncoder{number: number, load: sync.OnceValues(func() (*encoder, error) { return s.read(number) })}
	} else {
		x = s.cached[i]
		s.cached = slices.Delete(s.cached, i, i+1)
	}
	s.keep(x)
	x.users++
	return x
}

func (s *encoders) done(x *cachedEncoder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.users--
	s.free(x)
}

// keep caches an encoder, and evicts the one that was not used for the longest time if the
// cache is full. The caller holds the lock.
func (s *encoders) keep(x *cachedEncoder) {
	if len(s.cached) >= s.max {
		s.evict(0)
	}
	s.cached = append(s.cached, x)
}

func (s *encoders) drop(number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.cached) - 1; i >= 0; i-- {
		if s.cached[i].number == number {
			s.evict(i)
		}
	}
}

// evict removes the i-th encoder from the cache. The caller holds the lock.
func (s *encoders) evict(i int) {
	x := s.cached[i]
	x.evicted = true
	s.cached = slices.Delete(s.cached, i, i+1)
	s.free(x)
}

// free frees the blocks of an evicted encoder without users. The caller holds the lock.
func (s *encoders) free(x *cachedEncoder) {
	if x.users > 0 || !x.evicted {
		return
	}
	if e, err := x.load(); err == nil {
		s.memory.free(e.blocks...)
	}
}

func (s *encoders) read(number int) (*encoder, error) {
	blocks := s.memory.getAll(s.disk.Blocks(number))
	err := s.disk.Read(number, blocks)
	var e *encoder
	if err == nil {
		e, err = newEncoder(blocks)
	}
	if err != nil {
		s.memory.free(blocks...)
	}
	return e, err
}
