package proto

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The messages of permutation gossip. All but the first are of the control stream.

// GossipHeader is the size of a [GossipBlock]'s frame before its coefficients, in bytes.
const GossipHeader = frameHeader + gossipHead

// gossipHead is the part of it that is in the body.
const gossipHead = 4 + 4

// MaxGossip bounds what follows it: coefficients and payload.
const MaxGossip = MaxCodedK + MaxBlock

// GossipBlock carries a block of a generation, which nobody asked for. Its body is
// generation and round, four bytes each, big endian, the coefficients, one byte for
// each source block of the generation, and the payload.
type GossipBlock struct {
	Generation uint32
	// Round is the sender's.
	Round uint32
	// Data is coefficients and payload.
	Data []byte
}

// Permutation tells the members of a cluster in which orders they send to each other.
type Permutation struct {
	_ struct{} `cbor:",toarray"`
	// Version counts: of two permutations the greater holds, and of two with one
	// version that of the sender with the lesser id.
	Version uint64
	// Seed is what the orders are drawn with.
	Seed uint64
	// Members are all nodes, in the order of their ids, and Since for each from which
	// generation on others wait for it.
	Members []PeerID
	Since   []uint32
}

// Decoded tells of which generations the sender needs no more blocks, of those that it
// has not told of: they are decoded, or about to be. Lost are those of which it needs
// some after all.
type Decoded struct {
	_           struct{} `cbor:",toarray"`
	Generations []Range
	Lost        []Range
}

// Holds tells which plain blocks of a generation the sender has, a bit for each, the
// first in the lowest bit of the first byte.
type Holds struct {
	_          struct{} `cbor:",toarray"`
	Generation uint32
	Blocks     []byte
}

// Taken tells that a block of a generation has come.
type Taken struct {
	_          struct{} `cbor:",toarray"`
	Generation uint32
}

// Type implements [Message].
func (*GossipBlock) Type() Type { return TypeGossipBlock }

// Type implements [Message].
func (*Permutation) Type() Type { return TypePermutation }

// Type implements [Message].
func (*Decoded) Type() Type { return TypeDecoded }

// Type implements [Message].
func (*Holds) Type() Type { return TypeHolds }

// Type implements [Message].
func (*Taken) Type() Type { return TypeTaken }

func (m *GossipBlock) check() error { return checkGossip(m.Generation, len(m.Data)) }

func checkGossip(generation uint32, n int) error {
	if generation >= MaxPieces || n < 2 || n > MaxGossip {
		return fmt.Errorf("bad block of generation %d with %d bytes", generation, n)
	}
	return nil
}

func (m *Permutation) check() error {
	if len(m.Members) > MaxMembers || len(m.Members) != len(m.Since) {
		return fmt.Errorf("permutation of %d members, at most %d, with %d generations", len(m.Members), MaxMembers, len(m.Since))
	}
	last := PeerID("")
	for i, id := range m.Members {
		if id <= last || len(id) > MaxPeerID {
			return errors.New("members of a permutation are no peer ids in their order, each once")
		}
		if last = id; m.Since[i] >= MaxPieces {
			return fmt.Errorf("bad generation %d", m.Since[i])
		}
	}
	return nil
}

func (m *Decoded) check() error {
	if err := checkRanges("decoded", m.Generations); err != nil {
		return err
	}
	return checkRanges("lost", m.Lost)
}

func (m *Holds) check() error {
	if m.Generation >= MaxPieces || len(m.Blocks) > (MaxCodedK+7)/8 {
		return fmt.Errorf("bad map of %d bytes of generation %d", len(m.Blocks), m.Generation)
	}
	return nil
}

func (m *Taken) check() error {
	if m.Generation >= MaxPieces {
		return fmt.Errorf("bad generation %d", m.Generation)
	}
	return nil
}

// AppendGossipHeader appends what comes before n bytes of coefficients and payload.
func AppendGossipHeader(dst []byte, generation, round uint32, n int) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(1+gossipHead+n))
	dst = append(dst, byte(TypeGossipBlock))
	dst = binary.BigEndian.AppendUint32(dst, generation)
	return binary.BigEndian.AppendUint32(dst, round)
}

// ReadGossipHeader reads the frame of a block up to its coefficients, as
// [ReadBlockHeader] does, and says how many bytes follow.
func ReadGossipHeader(r io.Reader, head *[GossipHeader]byte) (generation, round uint32, n int, err error) {
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, 0, 0, err
	}
	size := binary.BigEndian.Uint32(head[:4])
	if t := Type(head[4]); t != TypeGossipBlock || size < 1+gossipHead || size > 1+gossipHead+MaxGossip {
		return 0, 0, 0, fmt.Errorf("bulk frame of type %d with %d bytes, want a block of permutation gossip", t, size)
	}
	generation, round = gossipOf(head[frameHeader:])
	n = int(size) - 1 - gossipHead
	return generation, round, n, checkGossip(generation, n)
}

// gossipOf reads what comes before the coefficients in a body, which must be there.
func gossipOf(body []byte) (generation, round uint32) {
	return binary.BigEndian.Uint32(body), binary.BigEndian.Uint32(body[4:])
}

// decodeGossip reads a block from body, which its Data is part of.
func decodeGossip(body []byte) (*GossipBlock, error) {
	if len(body) < gossipHead {
		return nil, errors.New("short header of a block")
	}
	b := &GossipBlock{Data: body[gossipHead:]}
	b.Generation, b.Round = gossipOf(body)
	if err := b.check(); err != nil {
		return nil, err
	}
	return b, nil
}
