package coded

import (
	"errors"

	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

// errForged reports a block that is held and whose signature is invalid. See dropForged.
var errForged = errors.New("the block's signature is invalid")

// load writes a block to dst and returns its origin. It forwards a block that is held, and
// makes one of a complete generation, which it may have to read. It fails with
// [payload.ErrAbsent], errForged, a damagedError or an error of the store.
func (c *namedContent) load(dst []byte, number uint32) (*proto.Origin, error) {
	generation, name := c.of(number)
	if generation >= c.Generations() {
		return nil, payload.ErrAbsent
	}
	if g := c.lookup(generation); g != nil {
		if o, err := c.forward(dst, g, name); o != nil || err != nil {
			return o, err
		}
	}
	if err := c.make(dst, generation, name); err != nil {
		return nil, err
	}
	return c.sign(number, dst), nil
}

// forward writes a block that is held to dst and returns its origin, nil if it is not held.
func (c *namedContent) forward(dst []byte, g *generation, name int) (*proto.Origin, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.held[name]
	if b == nil {
		return nil, nil
	}
	if !c.check(g.number, b) {
		return nil, errForged
	}
	copy(dst, b.payload) // under the lock: at the end of the generation the memory is reused
	return &b.origin, nil
}

// make makes a block of stored pieces.
func (c *namedContent) make(dst []byte, generation, name int) error {
	if c.Has(generation) {
		return c.encoders.use(generation, func(e *encoder) error { return e.encode(dst, name) })
	}
	if name >= c.Blocks(generation) || !c.Store.Has(c.pieceOf(generation, name)) {
		return payload.ErrAbsent
	}
	// Some pieces of a polluted generation may be good.
	piece := c.pieceOf(generation, name)
	b := make([]byte, c.Manifest.PieceSize(piece))
	if err := c.ReadPiece(piece, b); err != nil {
		return err
	}
	first, _ := c.namesOf(piece)
	clear(dst[copy(dst, b[(name-first)*c.Coding.Block:]):])
	return nil
}
