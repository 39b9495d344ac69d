package transport

import "net"

// maxLowWater bounds the bytes that a reader waits for at once: about a block. They
// stay in the kernel meanwhile.
const maxLowWater = 256 << 10

// recordReader is the connection below TLS. Its reader sleeps until the whole TLS
// record, or all expected payload, is there. Otherwise a slow link, where packets come
// one by one, wakes it eleven times per record, only to find that the rest is missing.
//
// It never waits for more than the peer has begun to send, so it does not wait for
// ever. Deadlines and the end of the connection wake it as usual.
type recordReader struct {
	net.Conn
	socket   *lowWaterReader // nil if unsupported: then it reads Conn
	records  records
	expected int // bytes of payload, see [Conn.Expect]
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

// Read implements [io.Reader].
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
