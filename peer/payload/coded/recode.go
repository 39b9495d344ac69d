package coded

import (
	"errors"

	"github.com/mobgrid/mob/mob/rlnc"
	"github.com/mobgrid/mob/peer/payload"
)

// make writes a block of a generation to dst, with its coefficients: a random combination
// of the blocks that the node has, or the given source block if block is not negative. It fails
// with [payload.ErrAbsent] if it has none, or with a damagedError. It may have to read
// the generation.
func (c *recodedContent) make(dst []byte, number, block int) error {
	vector, data := dst[:c.Blocks(number)], dst[c.Blocks(number):]
	if g := c.lookup(number); g != nil {
		if err := c.recode(g, vector, data, block); !errors.Is(err, payload.ErrAbsent) {
			return err
		}
	}
	if !c.Has(number) { // it may have been completed since
		return payload.ErrAbsent
	}
	c.draw(vector, block)
	return c.encoders.use(number, func(e *encoder) error { return e.code.Encode(data, vector) })
}

// The number of blocks that are combined. With all of them each byte sent would cost k
// multiplications, and the receiver is usually missing the newest blocks. Of a complete
// generation any few blocks are enough.
const (
	newest = 24
	older  = 8
	few    = newest + older
)

// draw draws the coefficients of a block of a complete generation.
func (c *recodedContent) draw(vector []byte, block int) {
	if block >= 0 && block < len(vector) {
		rlnc.Named(vector, block)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(vector)
	c.drawSome(vector, few)
}

// weigh draws the weights of the gathered blocks in a new one, oldest first.
func (c *recodedContent) weigh(weights []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(weights)
	rest := max(len(weights)-newest, 0)
	c.drawSome(weights[rest:], newest)
	c.drawSome(weights[:rest], older)
}

// drawSome draws up to n weights that are not 0, at random places. The caller holds the
// lock.
func (c *recodedContent) drawSome(weights []byte, n int) {
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

// recode makes a block of the gathered blocks of a generation.
func (c *recodedContent) recode(g *generation, vector, data []byte, block int) error {
	g.mu.Lock()
	if g.decoder == nil { // it has ended
		g.mu.Unlock()
		return payload.ErrAbsent
	}
	r := g.decoder.Recoder() // later blocks do not change it
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
		copy(data, plain)
		return nil
	case r.Rank() == 0 || block >= 0:
		return payload.ErrAbsent
	}
	var array [rlnc.MaxK]byte
	weights := array[:r.Rank()]
	c.weigh(weights)
	if err := r.Vector(vector, weights); err != nil {
		return err
	}
	return r.Recode(data, weights)
}
