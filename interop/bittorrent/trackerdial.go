package bittorrent

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
)

// trackerDialer connects to one tracker, and records its address.
type trackerDialer struct {
	rule *addrRule // nil if all addresses are allowed
	// own is the tracker's host:port if the operator or the user named it. The rule applies to redirects
	// to other addresses only.
	own    string
	custom func(ctx context.Context, network, addr string) (net.Conn, error) // [Config.Dial]

	mu sync.Mutex
	at netip.Addr // of the tracker, invalid before the first connection
}

func (d *trackerDialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if d.custom != nil {
		return d.custom(ctx, network, addr)
	}
	var dialer net.Dialer
	if addr != d.own {
		// Control is called after the name is resolved.
		dialer.Control = func(_, addr string, _ syscall.RawConn) error {
			a, err := netip.ParseAddrPort(addr)
			if err != nil {
				return err
			}
			return d.check(a.Addr())
		}
	}
	conn, err := dialer.DialContext(ctx, network, addr)
	if err == nil {
		d.reached(remoteAddr(conn).Addr())
	}
	return conn, err
}

// check fails unless the node may connect to the tracker at a.
func (d *trackerDialer) check(a netip.Addr) error {
	return d.rule.check(a, netip.Addr{}, ": if the tracker is yours, start mobd with --bt-tracker and its URL")
}

func (d *trackerDialer) reached(a netip.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = a
}

// checkPeer fails unless the node may connect to a client that the tracker returned.
func (d *trackerDialer) checkPeer(a netip.Addr) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rule.check(a, d.at, "")
}

// listenPacket opens a socket to send to the tracker by UDP.
func (d *trackerDialer) listenPacket(network, addr string) (net.PacketConn, error) {
	conn, err := net.ListenPacket(network, addr)
	if err != nil {
		return nil, err
	}
	return &trackerPackets{PacketConn: conn, dialer: d}, nil
}

// trackerPackets is a socket that sends only to addresses that its dialer allows, and receives one reply to each request: the third
// one would block the library for ever. The library sends one request after the other.
type trackerPackets struct {
	net.PacketConn
	dialer *trackerDialer
	asked  atomic.Uint64 // the transaction of a request without a reply, or 0
}

// transaction returns the transaction of a request or reply (BEP 15), which is not 0.
func transaction(b []byte) uint64 { return 1<<32 | uint64(binary.BigEndian.Uint32(b)) }

// ReadFrom implements [net.PacketConn].
func (c *trackerPackets) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := c.PacketConn.ReadFrom(b)
		if err != nil || n >= 8 && c.asked.CompareAndSwap(transaction(b[4:]), 0) {
			return n, from, err
		}
	}
}

// WriteTo implements [net.PacketConn].
func (c *trackerPackets) WriteTo(b []byte, to net.Addr) (int, error) {
	if udp, ok := to.(*net.UDPAddr); ok {
		a := udp.AddrPort().Addr().Unmap()
		if c.dialer.own == "" {
			if err := c.dialer.check(a); err != nil {
				return 0, err
			}
		}
		c.dialer.reached(a)
	}
	c.asked.Store(transaction(b[12:]))
	return c.PacketConn.WriteTo(b, to)
}
