package bittorrent

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
)

// port is one port number, for TCP and for UDP.
type port struct {
	tcp net.Listener
	udp *net.UDPConn
}

// anyPortTries is how often another port is taken where any will do, and that of
// TCP is not free for UDP.
const anyPortTries = 20

// openPort listens at ADDR:PORT. Without ADDR, or at [::], that is IPv4 and IPv6.
func openPort(addr string) (*port, error) {
	host, number, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	family := ""
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is4() {
		family = "4"
	}
	for try := 1; ; try++ {
		tcp, err := net.Listen("tcp"+family, addr)
		if err != nil {
			return nil, err
		}
		bound := tcp.Addr().(*net.TCPAddr)
		udp, err := net.ListenUDP("udp"+family, &net.UDPAddr{IP: bound.IP, Port: bound.Port, Zone: bound.Zone})
		if err == nil {
			return &port{tcp, udp}, nil
		}
		tcp.Close()
		if number != "0" || try == anyPortTries {
			return nil, fmt.Errorf("the port is free for TCP, but not for UDP: %w", err)
		}
	}
}

func (p *port) addr() netip.AddrPort {
	a := p.tcp.Addr().(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

func (p *port) close() error { return errors.Join(p.tcp.Close(), p.udp.Close()) }

// bounded is a listener with a bound on its open connections. More are closed at
// once: in the queue they would wait behind those that never end.
type bounded struct {
	net.Listener
	room chan struct{}
}

func bound(l net.Listener, conns int) *bounded {
	return &bounded{Listener: l, room: make(chan struct{}, conns)}
}

// Accept implements net.Listener.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case b.room <- struct{}{}:
			return &counted{Conn: c, leave: sync.OnceFunc(func() { <-b.room })}, nil
		default:
			c.Close()
		}
	}
}

// counted is a connection that has a place of a bounded listener's.
type counted struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
