package proto

import (
	"encoding/binary"
	"errors"
	"io"
)

// BlockHeader is the size in bytes of a [Block]'s frame before the payload: length, type,
// piece and begin.
const BlockHeader = frameHeader + 8

// Block carries part of a piece. Its body is Piece and Begin, four bytes each, big
// endian, and Data.
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

func (m *Block) appendFrame(dst []byte) []byte {
	return append(AppendBlockHeader(dst, m.Piece, m.Begin, len(m.Data)), m.Data...)
}

func (m *Block) decode(body []byte) error {
	if len(body) < BlockHeader-frameHeader {
		return errors.New("short block header")
	}
	*m = Block{Piece: binary.BigEndian.Uint32(body), Begin: binary.BigEndian.Uint32(body[4:]), Data: body[8:]}
	return nil
}

// AppendBlockHeader appends the frame of a [Block] up to its payload of n bytes, for
// writers that have the payload elsewhere. It checks nothing: n must be from 1 to
// [MaxBlock].
func AppendBlockHeader(dst []byte, piece, begin uint32, n int) []byte {
	dst = appendFrameHeader(dst, TypeBlock, BlockHeader-frameHeader+n)
	dst = binary.BigEndian.AppendUint32(dst, piece)
	return binary.BigEndian.AppendUint32(dst, begin)
}

// ReadBlockHeader reads the frame of a [Block] up to its payload, which the caller must
// read next. It uses head as its buffer and allocates nothing. It fails on any other frame
// and on a block that breaks a limit; io.EOF means that the stream ended between frames.
func ReadBlockHeader(r io.Reader, head *[BlockHeader]byte) (Span, error) {
	n, err := readPayloadHeader(r, head[:], TypeBlock, "block")
	if err != nil {
		return Span{}, err
	}
	s := Span{Piece: binary.BigEndian.Uint32(head[5:]), Begin: binary.BigEndian.Uint32(head[9:]), Length: n}
	return s, s.check()
}
