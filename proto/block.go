package proto

import (
	"encoding/binary"
	"io"
)

// BlockHeader is the size in bytes of the header of a block's frame: length, type, piece and
// begin. A block is part of a piece. The body of its frame is the number of the piece and the
// offset in it, four bytes each, big endian, and the payload of up to [MaxBlock] bytes.
const BlockHeader = frameHeader + 8

// AppendBlockHeader appends the header of a block's frame. The payload has n bytes, from 1 to
// [MaxBlock], which it does not check.
func AppendBlockHeader(dst []byte, piece, begin uint32, n int) []byte {
	dst = appendFrameHeader(dst, typeBlock, BlockHeader-frameHeader+n)
	dst = binary.BigEndian.AppendUint32(dst, piece)
	return binary.BigEndian.AppendUint32(dst, begin)
}

// ReadBlockHeader reads the header of a block's frame. The caller must read the payload next.
// It uses head as its buffer and allocates nothing. It fails on any other frame and on a block
// that breaks a limit. io.EOF means that the stream ended between frames.
func ReadBlockHeader(r io.Reader, head *[BlockHeader]byte) (Span, error) {
	n, err := readPayloadHeader(r, head[:], typeBlock, "block")
	if err != nil {
		return Span{}, err
	}
	s := Span{Piece: binary.BigEndian.Uint32(head[5:]), Begin: binary.BigEndian.Uint32(head[9:]), Length: n}
	return s, s.check()
}
