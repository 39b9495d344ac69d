package launch

import (
	"cmp"
	"net"
	"net/netip"
	"slices"

	"github.com/mobgrid/mob/peer/routes"
)

// MaxAddrs bounds the addresses of a host.
const MaxAddrs = 8

// Addrs returns the addresses of this machine for other hosts, or a loopback address if there is no other. The addresses of the
// default routes come first, and IPv4 before IPv6.
func Addrs() []netip.Addr {
	var all []netip.Addr
	interfaces, _ := net.InterfaceAddrs()
	for _, a := range interfaces {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			if ip := p.Addr().Unmap(); ip.IsGlobalUnicast() && bindable(ip) {
				all = append(all, ip)
			}
		}
	}
	first := routes.Default()
	rank := func(a netip.Addr) int {
		switch {
		case slices.Contains(first, a):
			return 0
		case a.Is4():
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b netip.Addr) int { return cmp.Compare(rank(a), rank(b)) })
	if len(all) == 0 {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
	}
	return all[:min(len(all), MaxAddrs)]
}

// bindable reports whether a socket can listen at an address. IPv6 may be partly disabled.
func bindable(a netip.Addr) bool {
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, 0)))
	return err == nil && l.Close() == nil
}
