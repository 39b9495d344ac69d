// Package routes finds the addresses of this machine for other machines.
package routes

import (
	"net"
	"net/netip"
)

// Default returns the source addresses of the default routes, IPv4 first. It sends nothing.
func Default() (all []netip.Addr) {
	for _, remote := range []string{"192.0.2.1:9", "[2001:db8::1]:9"} { // documentation addresses (RFC 5737, RFC 3849)
		if c, err := net.Dial("udp", remote); err == nil {
			all = append(all, c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap())
			_ = c.Close()
		}
	}
	return all
}
