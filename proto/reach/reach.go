// Package reach classifies addresses by where they can be reached from, and selects the addresses from another node or a
// tracker that a node may dial. An address that reaches less far than its source could make the node connect to services of
// its machine or network.
package reach

import (
	"net/netip"

	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Reach is the area in which an address can be reached. Greater is farther.
type Reach int

// Nowhere is also the reach of an invalid, unspecified, multicast or reserved address.
const (
	Nowhere Reach = iota
	ThisMachine
	ThisLink
	ThisSite
	Everywhere
)

// Of returns the reach of an address.
func Of(a netip.Addr) Reach {
	switch a = a.Unmap(); {
	case !a.IsValid() || a.IsUnspecified() || a.IsMulticast() || isReserved(a):
		return Nowhere
	case a.IsLoopback():
		return ThisMachine
	case a.IsLinkLocalUnicast():
		return ThisLink
	case a.IsPrivate() || isSharedSpace(a):
		return ThisSite
	}
	return Everywhere
}

// isReserved reports whether an address is in 0.0.0.0/8 or 240.0.0.0/4, which has the broadcast address.
func isReserved(a netip.Addr) bool {
	first := a.As16()[12]
	return a.Is4() && (first == 0 || first >= 240)
}

// isSharedSpace reports whether an address is one of a provider behind NAT: 100.64.0.0/10 (RFC 6598).
func isSharedSpace(a netip.Addr) bool {
	b := a.As16()
	return a.Is4() && b[12] == 100 && b[13]&0xc0 == 64
}

// IP returns the IP address in a multiaddr, the zero Addr if there is none.
func IP(a ma.Multiaddr) netip.Addr {
	if a == nil {
		return netip.Addr{}
	}
	ip, err := manet.ToIP(a)
	if err != nil {
		return netip.Addr{}
	}
	out, _ := netip.AddrFromSlice(ip)
	return out.Unmap()
}

// MayLearn reports whether an address may be sent to a node whose own address is node: a loopback or link-local one only
// to a node whose address is one, or it would connect to its own machine or link.
func MayLearn(node, addr netip.Addr) bool {
	r := Of(addr)
	return r >= ThisSite || r > Nowhere && r == Of(node)
}

// FromPeer returns the binary multiaddrs from a peer that may be dialed: those that reach at least as far as the peer's
// address. A name may have any address, so it is not dialed for a peer that is far, or whose address is not known.
func FromPeer(addrs [][]byte, peer netip.Addr) [][]byte {
	if !peer.IsValid() {
		return atLeast(addrs, Everywhere)
	}
	return atLeast(addrs, max(Of(peer), ThisMachine))
}

// FromTracker is FromPeer for members that a tracker names. Members of one site may meet through a public tracker, so their
// private addresses and names may be dialed.
func FromTracker(addrs [][]byte, tracker netip.Addr) [][]byte {
	return atLeast(addrs, leastOfTracker(tracker))
}

// MayName is FromTracker for one address.
func MayName(tracker, addr netip.Addr) bool { return Of(addr) >= leastOfTracker(tracker) }

// leastOfTracker returns the least reach of addresses that a tracker names.
func leastOfTracker(tracker netip.Addr) Reach {
	if !tracker.IsValid() {
		return ThisSite
	}
	return min(max(Of(tracker), ThisMachine), ThisSite)
}

func atLeast(addrs [][]byte, least Reach) (out [][]byte) {
	for _, b := range addrs {
		a, err := ma.NewMultiaddrBytes(b)
		if err != nil {
			continue
		}
		ip := IP(a)
		if ip.IsValid() && Of(ip) >= least || !ip.IsValid() && least < Everywhere {
			out = append(out, b)
		}
	}
	return out
}
