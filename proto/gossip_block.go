package proto

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// GossipHeader is the size in bytes of a [GossipBlock]'s frame before the coefficients:
// length, type, generation and round.
const GossipHeader = frameHeader + 8

// MaxGossip bounds the coefficients and the payload of a [GossipBlock] together, in bytes.
const MaxGossip = MaxCodedK + MaxBlock

// GossipBlock carries a block of permutation gossip, which nobody requests. Its body is
// Generation and Round, four bytes each, big endian, and Data.
type GossipBlock struct {
	Generation uint32
	// Round is the round in which the sender sends the block.
	Round uint32
	// Data is one coefficient, of one byte, for each source block of the generation,
	// and then the payload.
	Data []byte
}

// Type implements [Message].
func (*GossipBlock) Type() Type { return TypeGossipBlock }

func (m *GossipBlock) check() error {
	return checkGossip(m.Generation, uint32(min(len(m.Data), MaxGossip+1)))
}

func checkGossip(generation, n uint32) error {
	if generation >= MaxPieces || n < 2 || n > MaxGossip {
		return fmt.Errorf("bad block of generation %d with %d bytes", generation, n)
	}
	return nil
}

func (m *GossipBlock) appendFrame(dst []byte) []byte {
	return append(AppendGossipHeader(dst, m.Generation, m.Round, len(m.Data)), m.Data...)
}

func (m *GossipBlock) decode(body []byte) error {
	if len(body) < GossipHeader-frameHeader {
		return errors.New("short header of a gossip block")
	}
	*m = GossipBlock{Generation: binary.BigEndian.Uint32(body), Round: binary.BigEndian.Uint32(body[4:]), Data: body[8:]}
	return nil
}

// AppendGossipHeader appends the frame of a [GossipBlock] up to its coefficients; n counts
// coefficients and payload in bytes. It checks nothing.
func AppendGossipHeader(dst []byte, generation, round uint32, n int) []byte {
	dst = appendFrameHeader(dst, TypeGossipBlock, GossipHeader-frameHeader+n)
	dst = binary.BigEndian.AppendUint32(dst, generation)
	return binary.BigEndian.AppendUint32(dst, round)
}

// ReadGossipHeader reads the frame of a [GossipBlock] up to its coefficients, as
// [ReadBlockHeader] does for a [Block]. n is the number of bytes that follow.
func ReadGossipHeader(r io.Reader, head *[GossipHeader]byte) (generation, round uint32, n int, err error) {
	size, err := readPayloadHeader(r, head[:], TypeGossipBlock, "gossip block")
	if err != nil {
		return 0, 0, 0, err
	}
	generation, round = binary.BigEndian.Uint32(head[5:]), binary.BigEndian.Uint32(head[9:])
	return generation, round, int(size), checkGossip(generation, size)
}
