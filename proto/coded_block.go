package proto

import (
	"crypto/ed25519"
	"encoding/binary"
	"io"
)

// CodedHeader is the size in bytes of the header of a coded block's frame: length, type, number
// and origin. The body of the frame is the number of the block, four bytes, big endian, the
// encoder, its signature, and the payload of up to [MaxBlock] bytes.
const CodedHeader = frameHeader + 4 + ed25519.PublicKeySize + ed25519.SignatureSize

// Origin proves which node made a coded block.
type Origin struct {
	// Encoder is the Ed25519 public key of the node that made the block.
	Encoder [ed25519.PublicKeySize]byte
	// Signature is the encoder's signature over [CodedStatement].
	Signature [ed25519.SignatureSize]byte
}

// codedDomain separates these signatures from other signatures with a node's key.
const codedDomain = "mob coded block 1\x00"

// CodedStatement returns the bytes that the encoder of a block signs: content id of the
// swarm, k, number of the block, and SHA-256 of its payload.
func CodedStatement(swarm []byte, k int, number uint32, payload [32]byte) []byte {
	b := append([]byte(codedDomain), swarm...)
	b = append(b, byte(k))
	b = binary.BigEndian.AppendUint32(b, number)
	return append(b, payload[:]...)
}

// AppendCodedHeader appends the header of a coded block's frame. The payload has n bytes, from 1
// to [MaxBlock], which it does not check.
func AppendCodedHeader(dst []byte, number uint32, o *Origin, n int) []byte {
	dst = appendFrameHeader(dst, typeCodedBlock, CodedHeader-frameHeader+n)
	dst = binary.BigEndian.AppendUint32(dst, number)
	dst = append(dst, o.Encoder[:]...)
	return append(dst, o.Signature[:]...)
}

// ReadCodedHeader reads the header of a coded block's frame, as [ReadBlockHeader] does. The Piece
// of the span is the block's number, and its Begin 0.
func ReadCodedHeader(r io.Reader, head *[CodedHeader]byte) (Span, Origin, error) {
	n, err := readPayloadHeader(r, head[:], typeCodedBlock, "coded block")
	if err != nil {
		return Span{}, Origin{}, err
	}
	b := head[frameHeader:]
	s := Span{Piece: binary.BigEndian.Uint32(b), Length: n}
	var o Origin
	copy(o.Signature[:], b[4+copy(o.Encoder[:], b[4:]):])
	return s, o, s.check()
}
