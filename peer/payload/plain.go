package payload

import (
	"io"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// plain is the codec of plain pieces: a block is a part of a piece.
type plain struct {
	Config
	m         *proto.Manifest
	assembler *assembler
}

// NewPlain returns the codec of plain pieces.
func NewPlain(cfg Config) Codec {
	return &plain{cfg, cfg.Verifier.Manifest(), newAssembler(cfg.Verifier, cfg.Store)}
}

func (c *plain) Valid(sp proto.Span) bool {
	return int(sp.Piece) < c.m.Pieces() && int(sp.Begin)+int(sp.Length) <= c.Verifier.PieceSize(int(sp.Piece))
}

func (c *plain) Encode(to Peer, sp proto.Span) (*Buffer, error) {
	if !c.Store.Has(int(sp.Piece)) {
		return nil, ErrAbsent
	}
	buf := GetBuffer(proto.BlockHeader + int(sp.Length))
	data := buf.B[proto.BlockHeader:]
	proto.AppendBlockHeader(buf.B[:0], sp.Piece, sp.Begin, len(data))
	if _, err := c.Store.ReadAt(data, c.m.PieceOffset(int(sp.Piece))+int64(sp.Begin)); err != nil {
		buf.Release()
		c.Swarm.Suspect(Suspicion{Peer: to, Piece: sp.Piece, Number: sp.Piece})
		return nil, err
	}
	return buf, nil
}

func (c *plain) ReadHeader(r io.Reader, h *Header) (err error) {
	h.Span, err = proto.ReadBlockHeader(r, (*[proto.BlockHeader]byte)(h.Scratch[:]))
	return err
}

// Write implements [Codec]: it writes the new parts of the block. Verify writes the blocks of
// pieces in several files: to create files takes longer than to read a channel, and the workers
// run in parallel.
func (c *plain) Write(b *Block) error {
	b.Lane = b.Span.Piece
	b.fresh = c.assembler.reserve(b.Span)
	if b.later = c.assembler.inSeveralFiles(b.Span.Piece); b.later {
		return nil
	}
	return c.write(b)
}

// write writes the new parts of a block, and counts the duplicate ones.
func (c *plain) write(b *Block) (err error) {
	b.fresh, err = c.assembler.write(b.Span, b.Buf.B, b.fresh)
	if err != nil {
		return err
	}
	old := len(b.Buf.B)
	for _, part := range b.fresh {
		old -= int(part.Length)
	}
	c.Counters.Duplicate(old)
	return nil
}

// Verify implements [Codec]: it hashes the new parts of the block.
func (c *plain) Verify(b *Block) {
	if b.later {
		if err := c.write(b); err != nil {
			c.Swarm.Fail(err)
			return
		}
	}
	c.Swarm.Post(mob.Arrived{Peer: b.From.ID(), Span: b.Span}, b.From)
	for _, part := range b.fresh {
		at := part.Begin - b.Span.Begin
		v, sources, err := c.assembler.verify(part, b.Buf.B[at:at+part.Length], b.From.ID())
		if err != nil {
			c.Swarm.Fail(err)
			return
		}
		switch v {
		case incomplete, duplicate:
		case committed:
			c.Swarm.Post(mob.Stored{Piece: int(part.Piece)}, nil)
			for _, id := range sources {
				c.Log.Warn("peer sent a false part of a piece", "piece", part.Piece)
				c.Swarm.Post(mob.Blamed{Peer: id, Piece: int(part.Piece)}, nil)
			}
		case failed:
			c.Log.Warn("piece failed its hash", "piece", part.Piece, "sources", len(sources))
			c.Swarm.Post(mob.Failed{Piece: int(part.Piece), Sources: sources}, nil)
		}
	}
}

func (c *plain) Discard(piece int) {
	c.assembler.discard(uint32(piece))
	c.Swarm.Post(mob.Failed{Piece: piece}, nil)
}

func (c *plain) Numbers(piece int) proto.Range { return proto.Range{First: uint32(piece), Count: 1} }

func (c *plain) Restore(piece int) { c.Swarm.Post(mob.Stored{Piece: piece}, nil) }

func (c *plain) Forget(piece int) { c.Swarm.Post(mob.Lost{Piece: piece}, nil) }
