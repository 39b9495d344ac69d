package transport

import "net"

// maxGathered is for how many bytes at most a reader waits at once: about a block.
// The kernel keeps them meanwhile.
const maxGathered = 256 << 10

// gatherer is a connection below TLS whose reader sleeps until what it needs has
// come. Where packets come one by one, as they do over slow links, it would otherwise
// be woken eleven times for each record, only to find that the rest is missing.
//
// It waits for no more than the peer has begun to send, so not for ever; and its wait
// ends with the connection, as any.
type gatherer struct {
	net.Conn
	low      *lowWater // nil where there is no such thing: reading is plain then
	records  records
	expected int // bytes of payload (see [Conn.Expect])
}

// newGatherer reads c by way of the socket below it, except for what was read ahead,
// which c gives with its first Read.
func newGatherer(c, socket net.Conn) *gatherer {
	g := &gatherer{Conn: c}
	if raw := kernel(socket); raw != nil {
		g.low = newLowWater(raw)
	}
	return g
}

// Read implements [io.Reader].
func (g *gatherer) Read(b []byte) (n int, err error) {
	if p, ok := g.Conn.(*peeked); g.low == nil || ok && len(p.head) > 0 {
		n, err = g.Conn.Read(b)
	} else {
		n, err = g.low.read(b, min(g.records.missing(g.expected), maxGathered))
	}
	g.records.feed(b[:n])
	return n, err
}
