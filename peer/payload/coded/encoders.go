package coded

import (
	"slices"
	"sync"

	"github.com/mobgrid/mob/mob/rlnc"
)

// encoder makes blocks of a whole generation, whose source blocks it has in memory.
type encoder struct {
	blocks [][]byte
	code   *rlnc.Encoder
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

// encoders caches the encoders of the whole generations that were used last. Safe for
// concurrent use.
type encoders struct {
	disk   *disk
	memory *blockMemory
	max    int // number of encoders that are cached, at least one

	mu      sync.Mutex
	cached  []*cachedEncoder // in the order of their last use
	loading map[int]*cachedEncoder
}

// cachedEncoder is an encoder in the cache, or on its way there.
type cachedEncoder struct {
	number  int
	ready   chan struct{} // closed once encoder or err is set
	encoder *encoder
	err     error
	users   int  // goroutines that use the encoder or wait for it
	evicted bool // the last user frees the blocks
}

func newEncoders(d *disk, m *blockMemory, most int) encoders {
	return encoders{disk: d, memory: m, max: max(most, 1), loading: map[int]*cachedEncoder{}}
}

// add caches the source blocks of a decoded generation, which are counted already.
func (s *encoders) add(number int, blocks [][]byte) error {
	code, err := rlnc.NewEncoder(blocks)
	if err != nil {
		return err
	}
	x := &cachedEncoder{number: number, ready: make(chan struct{}), encoder: &encoder{blocks, code}}
	close(x.ready)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(x)
	return nil
}

// use calls f with the encoder of a whole generation. One that is not cached is read from
// the store, once for all who ask meanwhile.
func (s *encoders) use(number int, f func(*encoder) error) error {
	s.mu.Lock()
	x := s.find(number)
	first := x == nil
	if first {
		x = &cachedEncoder{number: number, ready: make(chan struct{})}
		s.loading[number] = x
	}
	x.users++
	s.mu.Unlock()
	if first {
		x.encoder, x.err = s.read(number)
		s.mu.Lock()
		delete(s.loading, number)
		if x.err == nil {
			s.keep(x)
		}
		s.mu.Unlock()
		close(x.ready)
	}
	<-x.ready
	if x.err != nil {
		return x.err
	}
	defer s.done(x)
	return f(x.encoder)
}

// find returns an encoder that is cached or loading, nil if there is none. The caller holds
// the lock.
func (s *encoders) find(number int) *cachedEncoder {
	i := slices.IndexFunc(s.cached, func(x *cachedEncoder) bool { return x.number == number })
	if i < 0 {
		return s.loading[number]
	}
	x := s.cached[i]
	s.cached = append(slices.Delete(s.cached, i, i+1), x)
	return x
}

// done ends a use of an encoder.
func (s *encoders) done(x *cachedEncoder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.users--
	if x.users == 0 && x.evicted {
		s.memory.free(x.encoder.blocks...)
	}
}

// keep caches an encoder, and evicts the one that was not used for the longest time if the
// cache is full. The caller holds the lock.
func (s *encoders) keep(x *cachedEncoder) {
	if len(s.cached) >= s.max {
		s.evict(0)
	}
	s.cached = append(s.cached, x)
}

// drop evicts the encoder of a generation, if it is cached.
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
	if x.users == 0 {
		s.memory.free(x.encoder.blocks...)
	}
	s.cached = slices.Delete(s.cached, i, i+1)
}

// read reads and checks a whole generation.
func (s *encoders) read(number int) (*encoder, error) {
	blocks := s.memory.getAll(s.disk.Blocks(number))
	err := s.disk.Read(number, blocks)
	if err == nil {
		var code *rlnc.Encoder
		if code, err = rlnc.NewEncoder(blocks); err == nil {
			return &encoder{blocks, code}, nil
		}
	}
	s.memory.free(blocks...)
	return nil, err
}
