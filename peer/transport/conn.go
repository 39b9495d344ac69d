package transport

import (
	"crypto/tls"
	"net"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Conn is a bulk socket. One goroutine may read while another writes.
type Conn struct {
	secure *tls.Conn
	below  *gatherer // what secure reads
	raw    manet.Conn
	scope  network.ConnManagementScope
}

// Read implements [io.Reader].
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.secure.Read(p)
	c.below.expected = max(c.below.expected-n, 0)
	return n, err
}

// Expect tells that n more bytes will come in any case, since the peer has begun to
// send them: who reads them need not be woken before they are all there. It is for
// the goroutine that reads.
func (c *Conn) Expect(n int) { c.below.expected = n }

// Write implements [io.Writer].
func (c *Conn) Write(p []byte) (int, error) { return c.secure.Write(p) }

// SetReadDeadline bounds reads, a begun one included.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.raw.SetReadDeadline(t) }

// SetWriteDeadline bounds writes, a begun one included. After one that was cut
// off the socket is of no use.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.raw.SetWriteDeadline(t) }

// Reset ends the socket at once, from any goroutine, and drops what the kernel
// has not sent yet. Ending it again does nothing.
func (c *Conn) Reset() error {
	c.scope.Done()
	return c.raw.Close()
}

// RTT is the shortest round trip that the kernel has seen on the socket, 0 where
// it does not tell.
func (c *Conn) RTT() time.Duration { return RTT(c.raw) }

// RTT is [Conn.RTT] of any connection.
func RTT(c net.Conn) time.Duration {
	if raw := kernel(c); raw != nil {
		return minRTT(raw)
	}
	return 0
}

// maxUnsent is how much the kernel may hold of what it cannot send yet. A block
// that waits there cannot be taken back; and what is written just before it is sent
// is still in the CPU's cache.
const maxUnsent = 256 << 10

// kernel is the way to a socket's options, nil when there is none.
func kernel(c net.Conn) syscall.RawConn {
	s, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// keepAlive is how often an idle connection is looked after.
const keepAlive = 30 * time.Second

// tune sets what libp2p sets for its connections too: those that end do so at
// once, and dead ones are found.
func tune(c net.Conn) {
	t, ok := c.(interface {
		SetLinger(int) error
		SetKeepAliveConfig(net.KeepAliveConfig) error
	})
	if ok {
		_ = t.SetLinger(0)
		_ = t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: keepAlive})
	}
}
