package bittorrent

import (
	"net"
	"net/netip"
	"sync"
)

// listen listens at ADDR:PORT. Without ADDR, or at [::], it listens on IPv4 and IPv6.
func listen(addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is4() {
		return net.Listen("tcp4", addr)
	}
	return net.Listen("tcp", addr)
}

// limitListener bounds the open connections of a listener. It closes more at once:
// in the backlog they would wait behind those that never end.
type limitListener struct {
	net.Listener
	slots chan struct{}
}

func newLimitListener(l net.Listener, conns int) *limitListener {
	return &limitListener{Listener: l, slots: make(chan struct{}, conns)}
}

// Accept implements net.Listener.
func (l *limitListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.slots <- struct{}{}:
			return &limitConn{Conn: c, release: sync.OnceFunc(func() { <-l.slots })}, nil
		default:
			c.Close()
		}
	}
}

// limitConn is a connection in a slot of a limitListener.
type limitConn struct {
	net.Conn
	release func()
}

// Close implements net.Conn.
func (c *limitConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
