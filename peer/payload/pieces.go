package payload

import (
	"io"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// pieces is the exchange of plain pieces.
type pieces struct {
	Config
	m   *proto.Manifest
	asm *Assembler
}

// Plain is the form of a transfer in plain pieces.
func Plain(cfg Config) Form {
	x := &pieces{cfg, cfg.Verifier.Manifest(), NewAssembler(cfg.Verifier, cfg.Store)}
	return Form{Exchange: x, lane: 1}
}

func (x *pieces) Valid(sp proto.Span) bool {
	return int(sp.Piece) < x.m.Pieces() && int(sp.Begin)+int(sp.Length) <= x.m.PieceSize(int(sp.Piece))
}

// Frame reads a block. When that fails its piece is checked.
func (x *pieces) Frame(to Peer, sp proto.Span) (*Buffer, error) {
	if !x.Store.Has(int(sp.Piece)) {
		return nil, ErrAbsent
	}
	buf := Get(proto.BlockHeader + int(sp.Length))
	data := buf.B[proto.BlockHeader:]
	proto.AppendBlockHeader(buf.B[:0], sp.Piece, sp.Begin, len(data))
	if _, err := x.Store.ReadAt(data, x.m.PieceOffset(int(sp.Piece))+int64(sp.Begin)); err != nil {
		Put(buf)
		x.Log.Error("piece cannot be read", "piece", sp.Piece, "error", err)
		x.Swarm.Complain(Complaint{to, sp.Piece, sp.Piece})
		return nil, err
	}
	return buf, nil
}

func (x *pieces) Head(r io.Reader, room *[proto.CodedHeader]byte) (proto.Span, *proto.Origin, error) {
	sp, err := proto.ReadBlockHeader(r, (*[proto.BlockHeader]byte)(room[:]))
	return sp, nil, err
}

// Place writes a block: the kernel lets only one write to a file at a time, and who
// reads a channel does it.
func (x *pieces) Place(a *Arrival) (err error) {
	a.parts, err = x.asm.Place(a.Span, a.Buf.B)
	fresh := 0
	for _, p := range a.parts {
		fresh += int(p.Length)
	}
	if err == nil {
		x.Count.Duplicate(len(a.Buf.B) - fresh)
	}
	return err
}

// Take hashes a block.
func (x *pieces) Take(a Arrival) {
	x.Swarm.Post(mob.Arrived{Peer: a.From.ID(), Span: a.Span}, a.From)
	for _, part := range a.parts {
		from := part.Begin - a.Span.Begin
		v, sources, err := x.asm.Take(part, a.Buf.B[from:from+part.Length], a.From.ID())
		if err != nil {
			x.Swarm.Fail(err)
			return
		}
		switch v {
		case PieceStored:
			x.Swarm.Post(mob.Stored{Piece: int(part.Piece)}, nil)
		case PieceFailed:
			x.Log.Warn("piece failed its hash", "piece", part.Piece, "sources", len(sources))
			x.Swarm.Post(mob.Failed{Piece: int(part.Piece), Sources: sources}, nil)
		}
	}
}
