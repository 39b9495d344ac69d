package coded

import (
	"slices"
	"sync"

	"github.com/mobgrid/mob/mob/rlnc"
)

// encoder has the source blocks of a whole generation, in memory.
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
	var room [rlnc.MaxK]byte
	v := room[:len(e.blocks)]
	rlnc.Named(v, name)
	return e.code.Encode(dst, v)
}

// encoders keeps whole generations for encoding, those used last.
type encoders struct {
	c *Content

	mu      sync.Mutex
	cached  []*cached // the last used last
	loading map[int]*cached
}

// cached is an encoder in the cache, or on its way there.
type cached struct {
	number int
	ready  chan struct{} // closed when the encoder is there, or the error
	e      *encoder
	err    error
	users  int  // who encode with it, or wait for that
	old    bool // another took its place
}

func newEncoders(c *Content) encoders { return encoders{c: c, loading: map[int]*cached{}} }

// add puts the source blocks of a generation that was decoded into the cache. They are
// counted.
func (s *encoders) add(number int, blocks [][]byte) error {
	code, err := rlnc.NewEncoder(blocks)
	if err != nil {
		return err
	}
	x := &cached{number: number, ready: make(chan struct{}), e: &encoder{blocks, code}}
	close(x.ready)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(x)
	return nil
}

// use has f use the encoder of a whole generation, read from the store if need be: once,
// for all who ask meanwhile.
func (s *encoders) use(number int, f func(*encoder) error) error {
	s.mu.Lock()
	x := s.find(number)
	mine := x == nil
	if mine {
		x = &cached{number: number, ready: make(chan struct{})}
		s.loading[number] = x
	}
	x.users++
	s.mu.Unlock()
	if mine {
		x.e, x.err = s.c.load(number)
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
	return f(x.e)
}

// find is an encoder that is cached or loaded, nil when there is none. The caller has
// the lock.
func (s *encoders) find(number int) *cached {
	i := slices.IndexFunc(s.cached, func(x *cached) bool { return x.number == number })
	if i < 0 {
		return s.loading[number]
	}
	x := s.cached[i]
	s.cached = append(slices.Delete(s.cached, i, i+1), x)
	return x
}

// done ends the use of an encoder.
func (s *encoders) done(x *cached) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.users--; x.users == 0 && x.old {
		s.c.drop(x.e.blocks...)
	}
}

// keep caches an encoder in the place of the one that was not used for the longest
// time. The caller has the lock.
func (s *encoders) keep(x *cached) {
	if len(s.cached) >= max(s.c.cfg.Cache, 1) {
		last := s.cached[0]
		if last.old = true; last.users == 0 {
			s.c.drop(last.e.blocks...)
		}
		s.cached = slices.Delete(s.cached, 0, 1)
	}
	s.cached = append(s.cached, x)
}

// load reads a whole generation, and checks that it is what it was.
func (c *Content) load(number int) (*encoder, error) {
	blocks := make([][]byte, c.Blocks(number))
	for i := range blocks {
		blocks[i] = c.block()
	}
	err := c.Read(number, blocks)
	if err == nil {
		var code *rlnc.Encoder
		if code, err = rlnc.NewEncoder(blocks); err == nil {
			return &encoder{blocks, code}, nil
		}
	}
	c.drop(blocks...)
	return nil, err
}
