package proto

import (
	"encoding/binary"
	"fmt"
	"io"
)

// frameHeader is the size in bytes of a frame's length and type.
const frameHeader = 5

// AppendFrame appends the frame of m to dst. It fails on a message that breaks a limit, so
// every reader accepts what it returns.
func AppendFrame(dst []byte, m Message) ([]byte, error) {
	if err := m.check(); err != nil {
		return dst, fmt.Errorf("message type %d: %w", TypeOf(m), err)
	}
	body, err := encMode.Marshal(m)
	if err != nil {
		return dst, fmt.Errorf("message type %d: %w", TypeOf(m), err)
	}
	if len(body)+1 > MaxFrame {
		return dst, fmt.Errorf("message type %d: %d bytes, at most %d", TypeOf(m), len(body), MaxFrame-1)
	}
	return append(appendFrameHeader(dst, TypeOf(m), len(body)), body...), nil
}

// WriteMessage writes the frame of m with one Write.
func WriteMessage(w io.Writer, m Message) error {
	frame, err := AppendFrame(nil, m)
	if err != nil {
		return err
	}
	_, err = w.Write(frame)
	return err
}

// ReadMessage reads one frame and decodes it. It blocks until the whole frame has arrived;
// io.EOF means that the stream ended between frames. It rejects a frame of more than
// [MaxFrame] bytes before it reads the body. Memory grows with the bytes that arrive, not with
// the length that the frame claims.
func ReadMessage(r io.Reader) (Message, error) { return readMessage(r, MaxFrame) }

// ReadOpening is like [ReadMessage] for the first message of a stream, which has at most
// [MaxOpening] bytes. The sender may be unauthenticated.
func ReadOpening(r io.Reader) (Message, error) { return readMessage(r, MaxOpening) }

func readMessage(r io.Reader, limit uint32) (Message, error) {
	t, body, err := readFrame(r, limit, readStep)
	if err != nil {
		return nil, err
	}
	return Decode(t, body)
}

func readFrame(r io.Reader, limit uint32, step int) (t Type, body []byte, _ error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[:4])
	if n == 0 || n > limit {
		return 0, nil, fmt.Errorf("frame of %d bytes, want 1 to %d", n, limit)
	}
	body, err := readBody(r, int(n-1), step)
	return Type(head[4]), body, err
}

// readStep is the size of the first buffer for a body, in bytes. Most bodies are shorter.
const readStep = 4 << 10

// readBody reads n bytes into a buffer of step bytes that doubles as they arrive.
func readBody(r io.Reader, n, step int) (body []byte, _ error) {
	for len(body) < n {
		longer := make([]byte, min(n, max(step, 2*len(body))))
		at := copy(longer, body)
		if _, err := io.ReadFull(r, longer[at:]); err == io.EOF {
			return nil, io.ErrUnexpectedEOF
		} else if err != nil {
			return nil, err
		}
		body = longer
	}
	return body, nil
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
