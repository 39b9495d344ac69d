package quota

import (
	"net"
	"net/netip"
)

// Limit returns a listener that closes connections of an address that gets no slot of conns. Listeners may share conns.
func Limit(ln net.Listener, conns *Shared[netip.Addr]) net.Listener { return &listener{ln, conns} }

type listener struct {
	net.Listener
	conns *Shared[netip.Addr]
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from, _ := netip.ParseAddrPort(c.RemoteAddr().String()) // Unix sockets have the zero address
		if release, ok := l.conns.Take(Host(from.Addr())); ok {
			return &Conn{c, release}, nil
		}
		c.Close()
	}
}

// Conn is a connection of the listener that [Limit] returns. Its slot is free once it is closed.
type Conn struct {
	net.Conn
	release func()
}

// Close implements [net.Conn].
func (c *Conn) Close() error {
	c.release()
	return c.Conn.Close()
}
