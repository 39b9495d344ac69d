package transport

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/transport"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/mobgrid/mob/mob/quota"
)

const (
	// peekLength is the number of bytes that distinguish the protocols. libp2p starts
	// with 13 2f 6d: the length of "/multistream/1.0.0\n" and its first letters.
	peekLength = 3
	// peekTimeout bounds the time until a connection has sent its first bytes. In
	// both protocols the dialer sends first.
	peekTimeout = 5 * time.Second
	// maxUndecided bounds the connections of a listener that have not finished the
	// peek and the handshake. Beyond its share the oldest of an address is closed.
	maxUndecided = 512
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
	done      chan struct{} // closed once accepting has ended, with err set
	err       error
	wg        sync.WaitGroup

	mu        sync.Mutex
	shares    *quota.Quota[netip.Addr]
	undecided map[netip.Addr][]net.Conn // by address, the oldest first
	closed    bool
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
	s := &listener{
		GatedMaListener: l,
		handshake:       handshake,
		others:          make(chan incoming),
		done:            make(chan struct{}),
		shares:          quota.New[netip.Addr](maxUndecided),
		undecided:       map[netip.Addr][]net.Conn{},
	}
	s.wg.Go(s.run)
	return s
}

// run accepts connections until the listener is closed.
func (l *listener) run() {
	defer close(l.done)
	for {
		conn, scope, err := l.GatedMaListener.Accept()
		if errors.Is(err, net.ErrClosed) {
			l.err = err
			return
		}
		if err != nil {
			time.Sleep(acceptRetry)
			continue
		}
		setOptions(conn)
		in := incoming{conn, scope}
		host := HostOf(conn.RemoteMultiaddr())
		if !l.enter(host, conn) {
			in.close()
			continue
		}
		l.wg.Go(func() {
			defer l.leave(host, conn)
			l.dispatch(in)
		})
	}
}

// enter records an undecided connection. If its address has its share, it closes the oldest.
func (l *listener) enter(host netip.Addr, c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.undecided[host]
	switch {
	case l.closed:
		return false
	case l.shares.Take(host):
	case len(of) == 0:
		return false
	default:
		_ = of[0].Close()
		of = of[1:]
	}
	l.undecided[host] = append(of, c)
	return true
}

func (l *listener) leave(host netip.Addr, c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.undecided[host]
	i := slices.Index(of, c)
	if i < 0 {
		return // closed for a newer one
	}
	if of = slices.Delete(of, i, i+1); len(of) == 0 {
		delete(l.undecided, host)
	} else {
		l.undecided[host] = of
	}
	l.shares.Release(host)
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
	case <-l.done:
	}
	in.close()
}

func (l *listener) Accept() (manet.Conn, network.ConnManagementScope, error) {
	select {
	case in := <-l.others:
		return in.conn, in.scope, nil
	case <-l.done:
		return nil, nil, l.err
	}
}

// Close implements [transport.GatedMaListener]. It closes the undecided connections
// and waits for their goroutines. Bulk sockets that have a handler stay open.
func (l *listener) Close() error {
	err := l.GatedMaListener.Close()
	l.mu.Lock()
	l.closed = true
	for _, of := range l.undecided {
		for _, c := range of {
			_ = c.Close()
		}
	}
	l.mu.Unlock()
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
