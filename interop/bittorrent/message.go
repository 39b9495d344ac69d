package bittorrent

import (
	"bufio"
	"encoding/binary"
	"io"

	pp "github.com/anacrolix/torrent/peer_protocol"

	"github.com/mobgrid/mob/mob/bitset"
)

// The messages of BEP 3, 6 and 10. The decoder of [pp] fails on unknown types, copies
// every block and expands bitfields to a byte a piece. Its encoder allocates nine times
// for a request.

func appendMessage(b []byte, t pp.MessageType, payload []byte, fields ...uint32) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(1+4*len(fields)+len(payload)))
	b = append(b, byte(t))
	for _, f := range fields {
		b = binary.BigEndian.AppendUint32(b, f)
	}
	return append(b, payload...)
}

// readHeader reads the header of a message: its type, and the length of the payload. A
// keep-alive has no type, and length -1.
func readHeader(r *bufio.Reader) (t pp.MessageType, n int64, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:4]); err != nil {
		return 0, 0, err
	}
	n = int64(binary.BigEndian.Uint32(head[:])) - 1
	if n < 0 {
		return 0, n, nil
	}
	_, err = io.ReadFull(r, head[4:])
	return pp.MessageType(head[4]), n, err
}

func readExtended(r *bufio.Reader, n int64) ([]byte, error) {
	if n == 0 || n > maxExtended {
		return nil, protocolError("extended message of %d bytes", n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

// fieldsOf returns the number of 32-bit fields of a message, or -1 if its type is unknown
// or has other fields.
func fieldsOf(t pp.MessageType) int {
	switch t {
	case pp.Choke, pp.Unchoke, pp.Interested, pp.NotInterested, pp.HaveAll, pp.HaveNone:
		return 0
	case pp.Have, pp.Suggest, pp.AllowedFast:
		return 1
	case pp.Request, pp.Cancel, pp.Reject:
		return 3
	}
	return -1
}

func bitfieldLen(pieces int) int { return (pieces + 7) / 8 }

// encodeBitfield encodes a set of pieces. The first piece is the highest bit.
func encodeBitfield(s *bitset.Set) []byte {
	b := make([]byte, bitfieldLen(s.Cap()))
	for i := range s.All() {
		b[i/8] |= 0x80 >> (i % 8)
	}
	return b
}

func bitfieldHas(b []byte, i int) bool { return b[i/8]&(0x80>>(i%8)) != 0 }
