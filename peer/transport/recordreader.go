package transport

import (
	"encoding/binary"
	"net"
)

// maxLowWater bounds the bytes that a reader waits for, about a block. The kernel
// holds them.
const maxLowWater = 256 << 10

// recordReader is the connection below TLS. Its reader sleeps until the complete TLS
// record, or all expected payload, has arrived. Otherwise a slow link, where packets
// arrive one by one, would wake it eleven times per record.
//
// It never waits for more than the peer has started to send. Deadlines and the end of
// the connection wake it as usual.
type recordReader struct {
	net.Conn
	socket   *lowWaterReader // nil if unsupported: then it reads Conn
	records  records
	expected int // bytes of payload, see [Reader.Fill]
	// handshake has a read end with the record, so that crypto/tls reads nothing that
	// follows the handshake.
	handshake bool
}

// newRecordReader reads socket directly, except for bytes that c holds because they
// were read ahead.
func newRecordReader(c, socket net.Conn) *recordReader {
	r := &recordReader{Conn: c}
	if raw := rawConn(socket); raw != nil {
		r.socket = newLowWaterReader(raw)
	}
	return r
}

func (r *recordReader) Read(b []byte) (n int, err error) {
	if r.handshake {
		b = b[:min(len(b), r.records.rest())]
	}
	if p, ok := r.Conn.(*peekedConn); r.socket == nil || ok && len(p.head) > 0 {
		n, err = r.Conn.Read(b)
	} else {
		n, err = r.socket.read(b, min(r.records.missing(r.expected), maxLowWater))
	}
	r.records.feed(b[:n])
	return n, err
}

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

// rest returns the number of bytes to the end of the current header or body.
func (r *records) rest() int {
	if r.left > 0 {
		return r.left
	}
	return recordHeader - r.got
}

// missing returns the least number of bytes that will arrive if the peer has started to send
// payload bytes beyond the complete records so far. A peer finishes a record that it has
// started. If it has started nothing, the result is 1.
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
