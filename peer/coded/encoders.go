package coded

import (
	"slices"
	"sync"

	"github.com/mobgrid/mob/mob/rlnc"
)

// encoder has the source blocks of a whole generation, in memory.
type encoder struct {
	source []byte
	blocks [][]byte // of source, as long as a coded block each
	code   *rlnc.Encoder
}

// newEncoder is one without its source blocks, in memory that is counted.
func (c *Content) newEncoder(generation int) *encoder {
	k := c.Blocks(generation)
	e := &encoder{source: make([]byte, k*c.Coding.Block), blocks: make([][]byte, k)}
	for i := range e.blocks {
		e.blocks[i] = e.source[i*c.Coding.Block : (i+1)*c.Coding.Block]
	}
	c.bytes.Add(int64(len(e.source)))
	return e
}

// encode writes the block of a name.
func (e *encoder) encode(dst []byte, name int) error {
	if name < len(e.blocks) {
		copy(dst, e.blocks[name])
		return nil
	}
	var room [rlnc.MaxK]byte
	v := room[:len(e.blocks)]
	rlnc.Named(v, name)
	return e.code.Encode(dst, v, 0)
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
	ready  chan struct{} // closed when the rest is there
	e      *encoder
	err    error
}

func newEncoders(c *Content) encoders { return encoders{c: c, loading: map[int]*cached{}} }

// add puts the encoder of a generation that was decoded into the cache.
func (s *encoders) add(number int, e *encoder) {
	var err error
	if e.code, err = rlnc.NewEncoder(e.blocks); err != nil {
		s.c.bytes.Add(-int64(len(e.source)))
		return // it can be read again
	}
	ready := make(chan struct{})
	close(ready)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(&cached{number: number, ready: ready, e: e})
}

// get is the encoder of a whole generation, read from the store if need be: once,
// for all who ask meanwhile.
func (s *encoders) get(number int) (*encoder, error) {
	s.mu.Lock()
	if i := slices.IndexFunc(s.cached, func(x *cached) bool { return x.number == number }); i >= 0 {
		x := s.cached[i]
		s.cached = append(slices.Delete(s.cached, i, i+1), x)
		s.mu.Unlock()
		return x.e, nil
	}
	x := s.loading[number]
	mine := x == nil
	if mine {
		x = &cached{number: number, ready: make(chan struct{})}
		s.loading[number] = x
	}
	s.mu.Unlock()
	if !mine {
		<-x.ready
		return x.e, x.err
	}
	x.e, x.err = s.c.load(number)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.loading, number)
	if x.err == nil {
		s.keep(x)
	}
	close(x.ready)
	return x.e, x.err
}

// keep caches an encoder in the place of the one that was not used for the longest
// time. The caller has the lock.
func (s *encoders) keep(x *cached) {
	if len(s.cached) >= max(s.c.cfg.Cache, 1) {
		s.c.bytes.Add(-int64(len(s.cached[0].e.source)))
		s.cached = slices.Delete(s.cached, 0, 1)
	}
	s.cached = append(s.cached, x)
}

// load reads a whole generation, and checks that it is what it was.
func (c *Content) load(number int) (*encoder, error) {
	e := c.newEncoder(number)
	err := c.Read(e.source, number)
	if err == nil {
		e.code, err = rlnc.NewEncoder(e.blocks)
	}
	if err != nil {
		c.bytes.Add(-int64(len(e.source)))
		return nil, err
	}
	return e, nil
}
