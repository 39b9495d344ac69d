package transport

import "encoding/binary"

// Of TLS 1.3, in bytes.
const (
	// recordHeader begins a record: type, version, length of the body.
	recordHeader = 5
	// recordExtra is what the body has beside the payload: its type, and the tag.
	recordExtra = 1 + 16
	// maxRecord is the most payload of a record.
	maxRecord = 16 << 10
)

// records follows the TLS records in a stream of bytes.
type records struct {
	head [recordHeader]byte
	got  int // bytes of the next header that were there already
	size int // of the last body, in bytes
	left int // of which were not there yet
}

// feed takes in the next bytes of the stream.
func (r *records) feed(b []byte) {
	for len(b) > 0 {
		if r.left > 0 {
			n := min(r.left, len(b))
			r.left -= n
			b = b[n:]
			continue
		}
		n := copy(r.head[r.got:], b)
		b = b[n:]
		if r.got += n; r.got == recordHeader {
			r.got = 0
			r.size = int(binary.BigEndian.Uint16(r.head[3:]))
			r.left = r.size
		}
	}
}

// missing is how many bytes will come at least, if the peer has begun to send that
// much payload beyond what is in whole records so far, and 1 if it has not. A peer
// finishes the record that it has begun.
func (r *records) missing(payload int) int {
	n := r.left
	if n > 0 {
		payload -= r.size - recordExtra
	} else if r.got > 0 {
		n = recordHeader - r.got
	}
	if payload > 0 {
		n = r.left - r.got + payload + (payload+maxRecord-1)/maxRecord*(recordHeader+recordExtra)
	}
	return max(n, 1)
}
