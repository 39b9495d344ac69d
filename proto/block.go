package proto

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// BlockHeader is the size of a block's frame before its payload, in bytes:
// length, type, piece and begin.
const BlockHeader = frameHeader + 8

// Block carries a part of a piece. Its body is the piece and the begin, four
// bytes each, big endian, and the payload.
type Block struct {
	Piece uint32
	Begin uint32
	Data  []byte
}

// Type implements [Message].
func (*Block) Type() Type { return TypeBlock }

func (m *Block) check() error {
	return Span{Piece: m.Piece, Begin: m.Begin, Length: uint32(min(len(m.Data), MaxBlock+1))}.check()
}

// AppendBlockHeader appends what comes before the payload of a block of n bytes,
// for writers that have the payload elsewhere. It checks nothing: n must be from
// 1 to [MaxBlock].
func AppendBlockHeader(dst []byte, piece, begin uint32, n int) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(1+8+n))
	dst = append(dst, byte(TypeBlock))
	dst = binary.BigEndian.AppendUint32(dst, piece)
	return binary.BigEndian.AppendUint32(dst, begin)
}

// ReadBlockHeader reads the frame of a block up to its payload, which the caller
// must read next. It allocates nothing when head does not escape. Any other
// frame is an error, as is a block that breaks a limit; io.EOF means that the
// stream ended between blocks.
func ReadBlockHeader(r io.Reader, head *[BlockHeader]byte) (Span, error) {
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Span{}, err
	}
	n := binary.BigEndian.Uint32(head[:4])
	if t := Type(head[4]); t != TypeBlock || n < 1+8 {
		return Span{}, fmt.Errorf("bulk frame of type %d with %d bytes, want a block", t, n)
	}
	s := Span{Piece: binary.BigEndian.Uint32(head[5:9]), Begin: binary.BigEndian.Uint32(head[9:13]), Length: n - 9}
	return s, s.check()
}

// decodeBlock reads a block from body, which its Data is part of.
func decodeBlock(body []byte) (*Block, error) {
	if len(body) < 8 {
		return nil, errors.New("short block header")
	}
	b := &Block{Piece: binary.BigEndian.Uint32(body), Begin: binary.BigEndian.Uint32(body[4:]), Data: body[8:]}
	if err := b.check(); err != nil {
		return nil, err
	}
	return b, nil
}
