package transport

import "encoding/binary"

// Records of TLS 1.3 and of [recordLayer], in bytes.
const (
	// recordHeader is the length of a record's header: type, version, length of the
	// body.
	recordHeader = 5
	// recordOverhead is the length of the tag, after the payload. TLS has a byte more, the content type.
	recordOverhead = 16
	// maxRecord is the most payload in a record.
	maxRecord = 16 << 10
)

// records parses the record headers in a stream of TLS bytes.
type records struct {
	header [recordHeader]byte
	got    int // bytes of the next header so far
	size   int // of the current body, in bytes
	left   int // bytes of it that are missing
}

// feed parses the next bytes of the stream.
func (r *records) feed(b []byte) {
	for len(b) > 0 {
		if r.left > 0 {
			n := min(r.left, len(b))
			r.left -= n
			b = b[n:]
			continue
		}
		n := copy(r.header[r.got:], b)
		b = b[n:]
		r.got += n
		if r.got == recordHeader {
			r.got = 0
			r.size = int(binary.BigEndian.Uint16(r.header[3:]))
			r.left = r.size
		}
	}
}

// rest returns how many bytes there are to the end of the current header or body.
func (r *records) rest() int {
	if r.left > 0 {
		return r.left
	}
	return recordHeader - r.got
}

// missing returns how many bytes will come at least, if the peer has begun to send so
// much payload beyond the complete records so far. A peer finishes the record that it
// has begun. If it has begun nothing, the result is 1.
func (r *records) missing(payload int) int {
	n := r.left
	if n > 0 {
		payload -= r.size - recordOverhead
	} else if r.got > 0 {
		n = recordHeader - r.got
	}
	if payload > 0 {
		n = r.left - r.got + payload + (payload+maxRecord-1)/maxRecord*(recordHeader+recordOverhead)
	}
	return max(n, 1)
}
