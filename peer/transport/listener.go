package transport

import (
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
	// peekLength is how many bytes tell the protocols apart: libp2p begins with
	// 13 2f 6d, the length of "/multistream/1.0.0\n" and its first letters.
	peekLength = 3
	// peekTimeout is how long a connection may say nothing. Everyone who belongs
	// here speaks first.
	peekTimeout = 5 * time.Second
	// maxUndecided is how many connections of a listener may be such that nobody
	// knows yet whether they are good for anything. Beyond, the oldest is closed:
	// those who belong here do not stay undecided for long.
	maxUndecided = 256
	// acceptPause is how long accepting waits when it fails, as it does while
	// descriptors are scarce.
	acceptPause = 50 * time.Millisecond
)

// route is a protocol on the shared port.
type route struct {
	// prefix is how its connections begin, at most peekLength bytes.
	prefix string
	// take has the connection from then on, and returns once it is decided whether
	// it lives: undecided ones are closed when there are too many. What was read
	// ahead is in c.
	take func(c net.Conn, in incoming)
}

// listener hears for several protocols. What it accepts itself is what has none
// of the prefixes.
type listener struct {
	transport.GatedMaListener // the port's
	routes                    []route
	rest                      chan incoming
	done                      chan struct{} // closed with err set, when accepting has ended
	err                       error
	wg                        sync.WaitGroup

	mu        sync.Mutex
	undecided [maxUndecided]net.Conn // a ring
	next      int                    // slot of the oldest
	closed    bool
}

// incoming is a connection with its place in the host's accounts.
type incoming struct {
	conn  manet.Conn
	scope network.ConnManagementScope
}

// share accepts at l: connections of the routes for them, all others for the
// listener that it returns.
func share(l transport.GatedMaListener, routes []route) transport.GatedMaListener {
	s := &listener{GatedMaListener: l, routes: routes, rest: make(chan incoming), done: make(chan struct{})}
	s.wg.Go(s.run)
	return s
}

// run accepts until the listener is closed.
func (l *listener) run() {
	defer close(l.done)
	for {
		conn, scope, err := l.GatedMaListener.Accept()
		if errors.Is(err, net.ErrClosed) {
			l.err = err
			return
		}
		if err != nil {
			time.Sleep(acceptPause)
			continue
		}
		tune(conn)
		slot, ok := l.enter(conn)
		if !ok {
			_ = conn.Close()
			scope.Done()
			continue
		}
		l.wg.Go(func() {
			defer l.leave(slot, conn)
			l.decide(incoming{conn, scope})
		})
	}
}

// enter takes the slot of the oldest undecided connection, and closes that.
func (l *listener) enter(c net.Conn) (slot int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, false
	}
	slot = l.next
	l.next = (l.next + 1) % maxUndecided
	if old := l.undecided[slot]; old != nil {
		_ = old.Close()
	}
	l.undecided[slot] = c
	return slot, true
}

func (l *listener) leave(slot int, c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.undecided[slot] == c {
		l.undecided[slot] = nil
	}
}

// decide reads the first bytes of a connection and hands it to whom it is for.
func (l *listener) decide(in incoming) {
	head := make([]byte, peekLength)
	_ = in.conn.SetReadDeadline(time.Now().Add(peekTimeout))
	if _, err := io.ReadFull(in.conn, head); err != nil {
		_ = in.conn.Close()
		in.scope.Done()
		return
	}
	_ = in.conn.SetReadDeadline(time.Time{})
	whole := &peeked{Conn: in.conn, head: head}
	for _, r := range l.routes {
		if strings.HasPrefix(string(head), r.prefix) {
			r.take(whole, in)
			return
		}
	}
	timeout := time.NewTimer(peekTimeout)
	defer timeout.Stop()
	select {
	case l.rest <- incoming{whole, in.scope}:
		return
	case <-timeout.C:
	case <-l.done:
	}
	_ = in.conn.Close()
	in.scope.Done()
}

// Accept implements [transport.GatedMaListener].
func (l *listener) Accept() (manet.Conn, network.ConnManagementScope, error) {
	select {
	case in := <-l.rest:
		return in.conn, in.scope, nil
	case <-l.done:
		return nil, nil, l.err
	}
}

// Close implements [transport.GatedMaListener]. It ends what is undecided and waits
// for that; the sockets that a route has taken are that one's to end.
func (l *listener) Close() error {
	err := l.GatedMaListener.Close()
	l.mu.Lock()
	l.closed = true
	for _, c := range l.undecided {
		if c != nil {
			_ = c.Close()
		}
	}
	l.mu.Unlock()
	l.wg.Wait()
	return err
}

// peeked is a connection of which the first bytes were read.
type peeked struct {
	manet.Conn
	head []byte
}

// Read implements [io.Reader].
func (p *peeked) Read(b []byte) (int, error) {
	if len(p.head) > 0 {
		n := copy(b, p.head)
		p.head = p.head[n:]
		return n, nil
	}
	return p.Conn.Read(b)
}
