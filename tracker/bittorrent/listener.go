package bittorrent

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
)

// socketPair is a listener for TCP and a socket for UDP at one port number.
type socketPair struct {
	tcp net.Listener
	udp *net.UDPConn
}

// anyPortTries is how many ports listen tries for port 0, where the one that TCP gets
// may be in use for UDP.
const anyPortTries = 20

// listen listens at ADDR:PORT. Without ADDR, or at [::], that is IPv4 and IPv6.
func listen(addr string) (*socketPair, error) {
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
			return &socketPair{tcp, udp}, nil
		}
		tcp.Close()
		if number != "0" || try == anyPortTries {
			return nil, fmt.Errorf("the port is free for TCP, but not for UDP: %w", err)
		}
	}
}

func (s *socketPair) addr() netip.AddrPort {
	a := s.tcp.Addr().(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

func (s *socketPair) close() error { return errors.Join(s.tcp.Close(), s.udp.Close()) }

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
