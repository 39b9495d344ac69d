package coded

import (
	"errors"

	"github.com/mobgrid/mob/proto"
)

// ErrForged says that a block came which is not what anybody signed. [Content.Purge]
// drops it.
var ErrForged = errors.New("the block is not what anybody signed")

// Load writes a block to dst, which has its length, and says who made it: as it came,
// or made here when its generation is whole. The error is [ErrAbsent],
// [ErrForged], a [DamagedError], or a store's. It blocks for as long as
// reading a generation takes.
func (c *Content) Load(dst []byte, number uint32) (proto.Origin, error) {
	generation, name := c.Of(number)
	if generation >= c.Generations() {
		return proto.Origin{}, ErrAbsent
	}
	if g := c.under(generation); g != nil {
		o, err := c.passOn(dst, g, name)
		if err != nil {
			return proto.Origin{}, err
		}
		if o != nil {
			return *o, nil
		}
	}
	err := c.produce(dst, generation, name)
	if err != nil {
		return proto.Origin{}, err
	}
	return c.sign(number, dst), nil
}

// passOn writes a block of a generation under way that came signed to dst, and says who
// made it: nil when there is none.
func (c *Content) passOn(dst []byte, g *generation, name int) (*proto.Origin, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := g.held[name]
	if b == nil {
		return nil, nil
	}
	if !c.check(g.number, b) {
		return nil, ErrForged
	}
	copy(dst, b.payload) // with the lock: the memory is used again when the generation is whole
	return &b.origin, nil
}

// produce makes a block of what is stored.
func (c *Content) produce(dst []byte, generation, name int) error {
	if c.Has(generation) {
		return c.encoders.use(generation, func(e *encoder) error { return e.encode(dst, name) })
	}
	if name >= c.Blocks(generation) || !c.Store.Has(c.pieceOf(generation, name)) {
		return ErrAbsent
	}
	// Of a generation that failed, a piece may have been right.
	piece := c.pieceOf(generation, name)
	b := make([]byte, c.Manifest.PieceSize(piece))
	if err := c.ReadPiece(piece, b); err != nil {
		return err
	}
	first, _ := c.namesOf(piece)
	clear(dst[copy(dst, b[(name-first)*c.Coding.Block:]):])
	return nil
}
