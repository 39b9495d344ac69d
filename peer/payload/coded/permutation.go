package coded

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
)

// Permutation is the codec of permutation gossip: nodes push each other combinations of
// source blocks, with the coefficients, and recode the blocks of a generation before they
// can decode it. It implements [payload.Pusher].
type Permutation struct {
	base
	content *recodedContent
	round   atomic.Uint32
}

// NewPermutation returns the codec of permutation gossip.
func NewPermutation(cfg payload.Config, coding proto.Coding) *Permutation {
	content := newRecoded(newDisk(&cfg, coding))
	return &Permutation{base: base{cfg, content.content}, content: content}
}

// Generations returns the number of source blocks of each generation, and which
// generations are stored.
func (c *Permutation) Generations() (blocks, have []int) {
	for g := range c.content.Generations() {
		blocks = append(blocks, c.content.Blocks(g))
		if c.content.Has(g) {
			have = append(have, g)
		}
	}
	return blocks, have
}

// Push implements [payload.Pusher]. A node sends one push after the other, so the next
// frame has the round of the last Push.
func (c *Permutation) Push(p mob.Push) proto.Span {
	c.round.Store(uint32(p.Round))
	return proto.Span{Piece: uint32(p.Generation), Begin: uint32(p.Block), Length: uint32(c.content.Coding.Block)}
}

// Valid implements [payload.Codec]: blocks are not requested.
func (c *Permutation) Valid(proto.Span) bool { return false }

// Encode implements [payload.Codec]: it makes a random combination of the blocks of the
// generation, or sends a source block unchanged.
func (c *Permutation) Encode(to payload.Peer, sp proto.Span) (*payload.Buffer, error) {
	generation, block := int(sp.Piece), -1
	if c.content.plain() {
		block = int(sp.Begin)
	}
	n := c.content.frame(generation)
	buf := payload.GetBuffer(proto.GossipHeader + n)
	proto.AppendGossipHeader(buf.B[:0], sp.Piece, c.round.Load(), n)
	err := c.content.make(buf.B[proto.GossipHeader:], generation, block)
	if err == nil {
		return buf, nil
	}
	buf.Release()
	c.damaged(to, sp.Piece, err)
	return nil, err
}

// ReadHeader implements [payload.Codec]. Span.Begin is the sender's round, and the payload
// starts with the coefficients.
func (c *Permutation) ReadHeader(r io.Reader, h *payload.Header) error {
	generation, round, n, err := proto.ReadGossipHeader(r, (*[proto.GossipHeader]byte)(h.Scratch[:]))
	if err == nil && (int(generation) >= c.content.Generations() || n != c.content.frame(int(generation))) {
		err = fmt.Errorf("block of generation %d with %d bytes", generation, n)
	}
	h.Span = proto.Span{Piece: generation, Begin: round, Length: uint32(n)}
	return err
}

// Write implements [payload.Codec]. Nothing is written before a generation is decoded.
func (c *Permutation) Write(b *payload.Block) error {
	b.Lane = b.Span.Piece
	return nil
}

// Verify implements [payload.Codec]: it adds the block to its generation, which it decodes
// once there are enough.
func (c *Permutation) Verify(b *payload.Block) {
	generation := int(b.Span.Piece)
	out, err := c.content.take(generation, b.Buf.B)
	if out.dropped >= 0 {
		c.cfg.Swarm.Post(mob.Polluted{Generation: out.dropped}, nil)
	}
	if err != nil {
		c.failed(b.From, b.Span.Piece, err)
		return
	}
	switch out.verdict {
	case invalid:
		c.cfg.Swarm.Post(mob.Failed{Piece: generation, Sources: []proto.PeerID{b.From.ID()}, Forged: true}, b.From)
		return
	case ignored, useless:
		c.cfg.Counters.Duplicate(len(b.Buf.B))
	}
	c.cfg.Swarm.Post(mob.Gathered{
		Peer:       b.From.ID(),
		Generation: generation,
		Block:      out.block,
		Round:      int(b.Span.Begin),
	}, b.From)
	if out.verdict != full {
		return
	}
	c.cfg.Swarm.Post(mob.Filled{Generation: generation}, nil)
	good, err := c.content.decode(generation)
	switch {
	case err != nil:
		c.cfg.Swarm.Fail(err)
	case good:
		c.cfg.Swarm.Post(mob.Decoded{Generation: generation}, nil)
	default:
		c.cfg.Log.Warn("generation failed its hashes: its blocks are dropped", "generation", generation)
		c.cfg.Swarm.Post(mob.Polluted{Generation: generation}, nil)
	}
}

// Numbers implements [payload.Codec]: blocks have no numbers.
func (c *Permutation) Numbers(int) proto.Range { return proto.Range{} }

// Forget implements [payload.Codec]: the generation of the piece is lost.
func (c *Permutation) Forget(piece int) {
	g := c.content.GenerationOf(piece)
	c.content.forget(g)
	c.cfg.Swarm.Post(mob.Polluted{Generation: g}, nil)
}
