package proto

import (
	"encoding/binary"
	"fmt"
	"io"
)

// payloadMessage is a message whose body is a fixed header and payload instead of CBOR,
// so that the payload is read to where it belongs and written from where it lies.
type payloadMessage interface {
	Message
	// appendFrame appends the frame of the message to dst.
	appendFrame(dst []byte) []byte
	// decode sets the message from body, part of which becomes its payload.
	decode(body []byte) error
}

// appendFrameHeader appends the header of a frame with a body of n bytes.
func appendFrameHeader(dst []byte, t Type, n int) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(1+n)), byte(t))
}

// readPayloadHeader fills head with the first bytes of a frame, which must be of type t,
// and returns the number of bytes that follow in the frame. name is the message's name
// in an error.
func readPayloadHeader(r io.Reader, head []byte, t Type, name string) (uint32, error) {
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, err
	}
	n, least := binary.BigEndian.Uint32(head), uint32(len(head)-4)
	if got := Type(head[4]); got != t || n < least {
		return 0, fmt.Errorf("bulk frame of type %d with %d bytes, want a %s", got, n, name)
	}
	return n - least, nil
}
