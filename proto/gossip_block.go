package proto

import (
	"encoding/binary"
	"fmt"
	"io"
)

// GossipHeader is the size in bytes of the header of a gossip block's frame: length, type,
// generation and round. A gossip block is sent without a request. The body of its frame is the
// generation and the sender's round, four bytes each, big endian, a coefficient of one byte for
// each source block of the generation, and the payload.
const GossipHeader = frameHeader + 8

// MaxGossip bounds the coefficients and the payload of a gossip block together, in bytes.
const MaxGossip = MaxCodedK + MaxBlock

// AppendGossipHeader appends the header of a gossip block's frame. n counts coefficients and
// payload in bytes, and is not checked.
func AppendGossipHeader(dst []byte, generation, round uint32, n int) []byte {
	dst = appendFrameHeader(dst, typeGossipBlock, GossipHeader-frameHeader+n)
	dst = binary.BigEndian.AppendUint32(dst, generation)
	return binary.BigEndian.AppendUint32(dst, round)
}

// ReadGossipHeader reads the header of a gossip block's frame, as [ReadBlockHeader] does. n is the
// number of bytes that follow.
func ReadGossipHeader(r io.Reader, head *[GossipHeader]byte) (generation, round uint32, n int, err error) {
	size, err := readPayloadHeader(r, head[:], typeGossipBlock, "gossip block")
	if err != nil {
		return 0, 0, 0, err
	}
	generation, round = binary.BigEndian.Uint32(head[5:]), binary.BigEndian.Uint32(head[9:])
	if generation >= MaxPieces || size < 2 || size > MaxGossip {
		err = fmt.Errorf("bad block of generation %d with %d bytes", generation, size)
	}
	return generation, round, int(size), err
}
