package proto

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// CodedHeader is the size of a coded block's frame before its payload, in bytes:
// length, type, number, the encoder's key, and its signature.
const CodedHeader = frameHeader + codedHead

// codedHead is the part of it that is in the body.
const codedHead = 4 + ed25519.PublicKeySize + ed25519.SignatureSize

// CodedBlock carries a block of a coded transfer. Its body is the number, four bytes
// big endian, the encoder's key, the signature, and the payload.
type CodedBlock struct {
	Number uint32
	Origin
	Data []byte
}

// Origin says who made a coded block, and that it did.
type Origin struct {
	// Encoder is the Ed25519 public key of the node that made the block.
	Encoder [ed25519.PublicKeySize]byte
	// Signature is the encoder's, over [CodedStatement].
	Signature [ed25519.SignatureSize]byte
}

// codedDomain keeps a signature from meaning anything else.
const codedDomain = "mob coded block 1\x00"

// CodedStatement is what the encoder of a block signs: the swarm, how many source
// blocks its generations have, the block's number, and the SHA-256 of its payload.
func CodedStatement(swarm []byte, k int, number uint32, payload [32]byte) []byte {
	b := append([]byte(codedDomain), swarm...)
	b = append(b, byte(k))
	b = binary.BigEndian.AppendUint32(b, number)
	return append(b, payload[:]...)
}

// Type implements [Message].
func (*CodedBlock) Type() Type { return TypeCodedBlock }

func (m *CodedBlock) check() error {
	return Span{Piece: m.Number, Length: uint32(min(len(m.Data), MaxBlock+1))}.check()
}

// AppendCodedHeader appends what comes before the payload of a coded block of n
// bytes. It checks nothing: n must be from 1 to [MaxBlock].
func AppendCodedHeader(dst []byte, number uint32, o *Origin, n int) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(1+codedHead+n))
	dst = append(dst, byte(TypeCodedBlock))
	dst = binary.BigEndian.AppendUint32(dst, number)
	dst = append(dst, o.Encoder[:]...)
	return append(dst, o.Signature[:]...)
}

// ReadCodedHeader reads the frame of a coded block up to its payload, as
// [ReadBlockHeader] does for plain ones. The span begins at 0.
func ReadCodedHeader(r io.Reader, head *[CodedHeader]byte) (Span, Origin, error) {
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Span{}, Origin{}, err
	}
	n := binary.BigEndian.Uint32(head[:4])
	if t := Type(head[4]); t != TypeCodedBlock || n < 1+codedHead {
		return Span{}, Origin{}, fmt.Errorf("bulk frame of type %d with %d bytes, want a coded block", t, n)
	}
	number, o := originOf(head[frameHeader:])
	s := Span{Piece: number, Length: n - 1 - codedHead}
	return s, o, s.check()
}

// originOf reads what comes before the payload in a body, which must be there.
func originOf(body []byte) (number uint32, o Origin) {
	n := 4 + copy(o.Encoder[:], body[4:])
	copy(o.Signature[:], body[n:])
	return binary.BigEndian.Uint32(body), o
}

// decodeCoded reads a coded block from body, which its Data is part of.
func decodeCoded(body []byte) (*CodedBlock, error) {
	if len(body) < codedHead {
		return nil, errors.New("short header of a coded block")
	}
	b := &CodedBlock{Data: body[codedHead:]}
	b.Number, b.Origin = originOf(body)
	if err := b.check(); err != nil {
		return nil, err
	}
	return b, nil
}
