package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/transport"
	manet "github.com/multiformats/go-multiaddr/net"
)

const (
	// peekLength is the number of bytes that distinguish the protocols. libp2p starts
	// with 13 2f 6d: the length of "/multistream/1.0.0\n" and its first letters.
	peekLength = 3
	// peekTimeout bounds the time until a connection has sent its first bytes. In
	// both protocols the dialer sends first.
	peekTimeout = 5 * time.Second
	// acceptRetry is the pause after a failed accept, as when descriptors are scarce.
	acceptRetry = 50 * time.Millisecond
)

// listener splits the connections of a port: it passes TLS to the bulk endpoint, and
// its Accept returns all other connections.
type listener struct {
	transport.GatedMaListener // the port's
	// handshake takes over a TLS connection. It returns once it has closed
	// the connection or passed it to its handler; c reads in.conn from the first byte.
	handshake func(c net.Conn, in incoming)
	others    chan incoming
	ctx       context.Context // ends with Close
	cancel    context.CancelFunc
	wg        sync.WaitGroup
}

// incoming is a connection with its scope in the resource manager.
type incoming struct {
	conn  manet.Conn
	scope network.ConnManagementScope
}

func (in incoming) close() {
	_ = in.conn.Close()
	in.scope.Done()
}

// newListener starts to accept at l.
func newListener(l transport.GatedMaListener, handshake func(net.Conn, incoming)) *listener {
	s := &listener{GatedMaListener: l, handshake: handshake, others: make(chan incoming)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.wg.Go(s.run)
	return s
}

// run accepts connections until the listener is closed. The host's limits bound the connections of one address.
func (l *listener) run() {
	for {
		conn, scope, err := l.GatedMaListener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(acceptRetry)
			continue
		}
		setOptions(conn)
		l.wg.Go(func() {
			defer context.AfterFunc(l.ctx, func() { _ = conn.Close() })()
			l.dispatch(incoming{conn, scope})
		})
	}
}

// dispatch reads the first bytes of a connection and routes it.
func (l *listener) dispatch(in incoming) {
	head := make([]byte, peekLength)
	_ = in.conn.SetReadDeadline(time.Now().Add(peekTimeout))
	if _, err := io.ReadFull(in.conn, head); err != nil {
		in.close()
		return
	}
	_ = in.conn.SetReadDeadline(time.Time{})
	peeked := &peekedConn{Conn: in.conn, head: head}
	if strings.HasPrefix(string(head), tlsPrefix) {
		l.handshake(peeked, in)
		return
	}
	timeout := time.NewTimer(peekTimeout)
	defer timeout.Stop()
	select {
	case l.others <- incoming{peeked, in.scope}:
		return
	case <-timeout.C:
	case <-l.ctx.Done():
	}
	in.close()
}

func (l *listener) Accept() (manet.Conn, network.ConnManagementScope, error) {
	select {
	case in := <-l.others:
		return in.conn, in.scope, nil
	case <-l.ctx.Done():
		return nil, nil, net.ErrClosed
	}
}

// Close implements [transport.GatedMaListener]. It closes the undecided connections
// and waits for their goroutines. Bulk sockets that have a handler stay open.
func (l *listener) Close() error {
	err := l.GatedMaListener.Close()
	l.cancel()
	l.wg.Wait()
	return err
}

// peekedConn is a connection whose first bytes were read ahead.
type peekedConn struct {
	manet.Conn
	head []byte
}

func (p *peekedConn) Read(b []byte) (int, error) {
	if len(p.head) > 0 {
		n := copy(b, p.head)
		p.head = p.head[n:]
		return n, nil
	}
	return p.Conn.Read(b)
}
