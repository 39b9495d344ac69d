package coded

import (
	"slices"

	"github.com/mobgrid/mob/mob/rlnc"
)

// source has the source blocks of a whole generation.
type source struct {
	number int
	bytes  []byte
	code   *rlnc.Encoder
}

// Make writes a block of a generation to dst, which has [Recoded.Frame] bytes: a random
// combination of what is there, or, for block >= 0, that source block. The error is
// [ErrAbsent] when there is nothing of it, or a [DamagedError].
// It may have to read the generation.
func (c *Recoded) Make(dst []byte, number, block int) error {
	vector, payload := dst[:c.Blocks(number)], dst[c.Blocks(number):]
	c.mu.Lock()
	g := c.open[number]
	c.mu.Unlock()
	if g != nil {
		return c.recode(g, vector, payload, block)
	}
	s, err := c.source(number)
	if err != nil {
		return err
	}
	c.draw(vector, block)
	return s.code.Encode(payload, vector)
}

// How many blocks go into one that is made: all would cost k multiplications for each
// byte sent. What a receiver lacks is nearly always what came last, here too. Of a whole
// generation any few will do, as long as all come up in time (docs/design, strategies).
const (
	newest = 24
	older  = 8
	few    = newest + older
)

// draw makes the coefficients of a block of a whole generation.
func (c *Recoded) draw(vector []byte, block int) {
	if block >= 0 && block < len(vector) {
		rlnc.Named(vector, block)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(vector)
	c.some(vector, few)
}

// weigh draws how much of each of the blocks that came goes into a new one, in the
// order in which they came.
func (c *Recoded) weigh(weights []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(weights)
	rest := max(len(weights)-newest, 0)
	c.some(weights[rest:], newest)
	c.some(weights[:rest], older)
}

// some draws up to n weights, which are not 0, at places drawn as well. The caller has
// the lock.
func (c *Recoded) some(weights []byte, n int) {
	for i := range weights {
		if n < len(weights) {
			if i >= n {
				return
			}
			i = c.rng.IntN(len(weights))
		}
		weights[i] = byte(1 + c.rng.IntN(255))
	}
}

// recode makes a block of what has come of a generation.
func (c *Recoded) recode(g *recodedGeneration, vector, payload []byte, block int) error {
	g.mu.Lock()
	r := g.decoder.Recoder() // what comes later does not touch it
	var plain []byte
	for i := 0; block >= 0 && i < g.decoder.Rank(); i++ {
		if b := g.decoder.Block(i); block < len(b.Vector) && b.Vector[block] == 1 {
			plain = b.Payload
		}
	}
	g.mu.Unlock()
	switch {
	case plain != nil:
		rlnc.Named(vector, block)
		copy(payload, plain)
		return nil
	case r.Rank() == 0 || block >= 0:
		return ErrAbsent
	}
	var room [rlnc.MaxK]byte
	weights := room[:r.Rank()]
	c.weigh(weights)
	if err := r.Vector(vector, weights); err != nil {
		return err
	}
	return r.Recode(payload, weights)
}

// source is a whole generation, read if need be.
func (c *Recoded) source(number int) (*source, error) {
	c.mu.Lock()
	defer c.mu.Unlock() // who waits meanwhile needs it as well, most often
	for i, s := range c.whole {
		if s.number == number {
			c.whole = append(slices.Delete(c.whole, i, i+1), s)
			return s, nil
		}
	}
	if !c.Has(number) {
		return nil, ErrAbsent
	}
	s := &source{number: number, bytes: c.buffer(number)}
	blocks := c.split(s.bytes)
	err := c.Read(number, blocks)
	if err == nil {
		s.code, err = rlnc.NewEncoder(blocks)
	}
	if err != nil {
		c.release(s.bytes)
		return nil, err
	}
	c.keep(s)
	return s, nil
}

// keep keeps a whole generation in the place of the one that was not used for the
// longest time. The caller has the lock.
func (c *Recoded) keep(s *source) {
	if len(c.whole) >= RecodedKept {
		c.drop(c.whole[0].number)
	}
	c.whole = append(c.whole, s)
}

// drop lets go of a whole generation. The caller has the lock.
func (c *Recoded) drop(number int) {
	c.whole = slices.DeleteFunc(c.whole, func(s *source) bool {
		if s.number == number {
			c.release(s.bytes)
		}
		return s.number == number
	})
}
