package transport

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Conn is a bulk socket. One goroutine may read while another writes.
type Conn struct {
	input *recordReader // below records
	// records reads and writes after the handshake: a [recordLayer], or a [tls.Conn] if the peer knows only
	// the ALPN of TLS records.
	records io.ReadWriter
	raw     manet.Conn
	scope   network.ConnManagementScope
}

// handshake makes the TLS handshake of a socket, and prepares it for reading and writing.
func (c *Conn) handshake(ctx context.Context, config *tls.Config, client bool) error {
	t := tls.Server(c.input, config)
	if client {
		t = tls.Client(c.input, config)
	}
	c.input.handshake = true
	err := t.HandshakeContext(ctx)
	c.input.handshake = false
	if err != nil {
		return err
	}
	state := t.ConnectionState()
	switch state.NegotiatedProtocol {
	case alpn:
		c.records, err = exportRecordLayer(c.input, &state, client)
	case alpnTLS:
		c.records = t
	default: // a server that does not know the ALPN may continue without one
		err = fmt.Errorf("the peer negotiates ALPN %q, want %q", state.NegotiatedProtocol, alpn)
	}
	return err
}

// Read implements [io.Reader].
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.records.Read(p)
	c.input.expected = max(c.input.expected-n, 0)
	return n, err
}

// Write implements [io.Writer].
func (c *Conn) Write(p []byte) (int, error) { return c.records.Write(p) }

// SetReadDeadline bounds current and future reads.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.raw.SetReadDeadline(t) }

// SetWriteDeadline bounds current and future writes. After a write has timed out the
// socket is corrupt.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.raw.SetWriteDeadline(t) }

// Reset closes the socket and drops unsent bytes. Any goroutine may call it, any number
// of times.
func (c *Conn) Reset() error {
	c.scope.Done()
	return c.raw.Close()
}

// Path contains the kernel's measurements of the path of a socket.
type Path struct {
	MinRTT time.Duration // the shortest round trip, 0 if it is unknown
	RTT    time.Duration // the smoothed one
	Sent   uint64        // segments with payload
	Lost   uint64        // retransmitted segments
	Acked  uint64        // bytes that arrived
	Busy   time.Duration // with bytes to send or in flight
}

// Path returns the measurements of the path, the zero Path if there are none, as on other systems than Linux.
func (c *Conn) Path() Path { return pathOf(c.raw) }

// RTT returns the shortest round-trip time that the kernel has measured on a connection, 0 if it is
// unknown.
func RTT(c net.Conn) time.Duration { return pathOf(c).MinRTT }

// maxUnsent bounds the bytes that the kernel holds and cannot send yet. A block among
// them can no longer be canceled. Bytes that are written just before they are sent are
// still in the CPU's cache.
const maxUnsent = 256 << 10

// rawConn returns the raw connection of a socket, nil if it has none.
func rawConn(c net.Conn) syscall.RawConn {
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

// keepAlive is the interval of TCP keep-alive probes.
const keepAlive = 30 * time.Second

// setOptions sets the options that libp2p sets for its own connections: a closed
// connection ends immediately, and the kernel finds dead ones.
func setOptions(c net.Conn) {
	t, ok := c.(interface {
		SetLinger(int) error
		SetKeepAliveConfig(net.KeepAliveConfig) error
	})
	if ok {
		_ = t.SetLinger(0)
		_ = t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: keepAlive})
	}
}

// Reader reads a bulk channel, a [Conn] or a libp2p stream. It records whether a read
// failed, which distinguishes a broken channel from invalid data.
type Reader struct {
	io.Reader
	// Broken is set once a read has failed for any reason.
	Broken bool
}

// Read implements [io.Reader].
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.Broken = r.Broken || err != nil
	return n, err
}

// Fill reads exactly len(p) bytes that the peer has started to send. On a [Conn] the
// caller sleeps until all of them have arrived.
func (r *Reader) Fill(p []byte) error {
	if c, ok := r.Reader.(*Conn); ok {
		c.input.expected = len(p)
	}
	_, err := io.ReadFull(r, p)
	return err
}
