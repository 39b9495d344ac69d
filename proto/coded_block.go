package proto

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"io"
)

// CodedHeader is the size in bytes of a [CodedBlock]'s frame before the payload: length,
// type, number, encoder and signature.
const CodedHeader = frameHeader + 4 + ed25519.PublicKeySize + ed25519.SignatureSize

// CodedBlock carries a block of a coded transfer. Its body is Number, four bytes big
// endian, Encoder, Signature and Data.
type CodedBlock struct {
	Number uint32
	Origin
	Data []byte
}

// Origin proves which node made a coded block.
type Origin struct {
	// Encoder is the Ed25519 public key of the node that made the block.
	Encoder [ed25519.PublicKeySize]byte
	// Signature is the encoder's signature over [CodedStatement].
	Signature [ed25519.SignatureSize]byte
}

// codedDomain separates these signatures from all others made with a node's key.
const codedDomain = "mob coded block 1\x00"

// CodedStatement returns the bytes that the encoder of a block signs: content id of the
// swarm, k, number of the block, and SHA-256 of its payload.
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

func (m *CodedBlock) appendFrame(dst []byte) []byte {
	return append(AppendCodedHeader(dst, m.Number, &m.Origin, len(m.Data)), m.Data...)
}

func (m *CodedBlock) decode(body []byte) error {
	const header = CodedHeader - frameHeader
	if len(body) < header {
		return errors.New("short header of a coded block")
	}
	m.Number, m.Origin = decodeOrigin(body)
	m.Data = body[header:]
	return nil
}

// AppendCodedHeader appends the frame of a [CodedBlock] up to its payload of n bytes. It
// checks nothing: n must be from 1 to [MaxBlock].
func AppendCodedHeader(dst []byte, number uint32, o *Origin, n int) []byte {
	dst = appendFrameHeader(dst, TypeCodedBlock, CodedHeader-frameHeader+n)
	dst = binary.BigEndian.AppendUint32(dst, number)
	dst = append(dst, o.Encoder[:]...)
	return append(dst, o.Signature[:]...)
}

// ReadCodedHeader reads the frame of a [CodedBlock] up to its payload, as
// [ReadBlockHeader] does for a [Block]. The Piece of the span is the block's number, and
// its Begin 0.
func ReadCodedHeader(r io.Reader, head *[CodedHeader]byte) (Span, Origin, error) {
	n, err := readPayloadHeader(r, head[:], TypeCodedBlock, "coded block")
	if err != nil {
		return Span{}, Origin{}, err
	}
	number, o := decodeOrigin(head[frameHeader:])
	s := Span{Piece: number, Length: n}
	return s, o, s.check()
}

// decodeOrigin decodes the header of a coded block, which body must begin with.
func decodeOrigin(body []byte) (number uint32, o Origin) {
	n := 4 + copy(o.Encoder[:], body[4:])
	copy(o.Signature[:], body[n:])
	return binary.BigEndian.Uint32(body), o
}
