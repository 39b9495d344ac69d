package address

import (
	"fmt"
	"net"
	"net/netip"

	ma "github.com/multiformats/go-multiaddr"
)

// AnnounceURLs are what clients are told of a tracker that listens at the given
// addresses.
func AnnounceURLs(listen []netip.AddrPort) []string {
	var urls []string
	for _, scheme := range []string{"http", "udp"} {
		for _, at := range listen {
			for _, ip := range dialable(at.Addr()) {
				urls = append(urls, fmt.Sprintf("%s://%v/announce", scheme, netip.AddrPortFrom(ip, at.Port())))
			}
		}
	}
	return urls
}

// Reachable is where clients on other machines reach who listens at an address:
// nowhere when that is a loopback's.
func Reachable(listen netip.AddrPort) []netip.AddrPort {
	var out []netip.AddrPort
	for _, ip := range dialable(listen.Addr()) {
		if !ip.IsLoopback() {
			out = append(out, netip.AddrPortFrom(ip, listen.Port()))
		}
	}
	return out
}

// dialable is where others reach who listens at an address: an unspecified one
// stands for all of this machine, and that of IPv6 for IPv4 as well.
func dialable(a netip.Addr) []netip.Addr {
	if !a.IsUnspecified() {
		return []netip.Addr{a}
	}
	families := []int{ma.P_IP4}
	if a.Is6() {
		families = append(families, ma.P_IP6)
	}
	var out []netip.Addr
	for _, family := range families {
		if ip, ok := ownIP(family); ok {
			out = append(out, ip)
		}
	}
	if len(out) == 0 {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
	}
	return out
}

// ownIP is the address of a family that this machine's default route uses, or else
// the first that others may reach.
func ownIP(family int) (netip.Addr, bool) {
	if ip, ok := netip.AddrFromSlice(routeIP(family)); ok {
		return ip.Unmap(), true
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return netip.Addr{}, false
	}
	for _, a := range all {
		p, err := netip.ParsePrefix(a.String())
		if err == nil && p.Addr().IsGlobalUnicast() && p.Addr().Is4() == (family == ma.P_IP4) {
			return p.Addr(), true
		}
	}
	return netip.Addr{}, false
}
