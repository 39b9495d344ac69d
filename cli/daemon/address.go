package daemon

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/mobgrid/mob/cast/launch"
)

// ParseListen parses the values of --listen.
func ParseListen(texts []string) ([]ma.Multiaddr, error) {
	var out []ma.Multiaddr
	for _, text := range texts {
		a, err := ma.NewMultiaddr(text)
		if err == nil {
			_, err = a.ValueForProtocol(ma.P_TCP)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot listen on %q: give an address such as /ip4/0.0.0.0/tcp/4001", text)
		}
		out = append(out, a)
	}
	return out, nil
}

// ParseTrackers parses the values of --tracker, without duplicates.
func ParseTrackers(texts []string) ([]ma.Multiaddr, error) {
	var out []ma.Multiaddr
	for _, text := range texts {
		a, err := ma.NewMultiaddr(text)
		if err == nil {
			_, err = libpeer.AddrInfoFromP2pAddr(a)
		}
		if err != nil {
			return nil, fmt.Errorf("%q is not the address of a tracker: give the line that `mob tracker` prints", text)
		}
		if !slices.ContainsFunc(out, a.Equal) {
			out = append(out, a)
		}
	}
	return out, nil
}

// OwnAddr returns the address to print for a host that listens on listen: with the bound port and the host's
// id. An unspecified IP is replaced by an address of this machine.
func OwnAddr(h host.Host, listen ma.Multiaddr) ma.Multiaddr {
	a := withPort(listen, h.Network().ListenAddresses())
	if manet.IsIPUnspecified(a) {
		family, port := ma.SplitFirst(a)
		ip := manet.IP4Loopback
		if family.Code() == ma.P_IP6 {
			ip = manet.IP6Loopback
		}
		if own, ok := ownIP(family.Code()); ok {
			ip = ma.StringCast("/" + family.Protocol().Name + "/" + own.String())
		}
		a = ip.Encapsulate(port)
	}
	return a.Encapsulate(ma.StringCast("/p2p/" + h.ID().String()))
}

// withPort replaces port 0 of listen by the port that was bound for it.
func withPort(listen ma.Multiaddr, bound []ma.Multiaddr) ma.Multiaddr {
	if port, _ := listen.ValueForProtocol(ma.P_TCP); port != "0" {
		return listen
	}
	first, _ := ma.SplitFirst(listen)
	for _, b := range bound {
		if ip, _ := ma.SplitFirst(b); ip.Equal(first) {
			return b
		}
	}
	return listen
}

// AnnounceURLs returns the announce URLs of a BitTorrent tracker that listens on
// the given addresses.
func AnnounceURLs(listen []netip.AddrPort) []string {
	var urls []string
	for _, at := range listen {
		for _, ip := range dialableIPs(at.Addr()) {
			urls = append(urls, fmt.Sprintf("http://%v/announce", netip.AddrPortFrom(ip, at.Port())))
		}
	}
	return urls
}

// externalAddrs returns where other machines reach a listener: nowhere when it
// listens on loopback.
func externalAddrs(listen netip.AddrPort) []netip.AddrPort {
	var out []netip.AddrPort
	for _, ip := range dialableIPs(listen.Addr()) {
		if !ip.IsLoopback() {
			out = append(out, netip.AddrPortFrom(ip, listen.Port()))
		}
	}
	return out
}

// dialableIPs returns the addresses that reach a listener. The unspecified address means all addresses of this
// machine, and in IPv6 also its IPv4 addresses.
func dialableIPs(a netip.Addr) []netip.Addr {
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

// ownIP returns the address of this machine in a family, of the default route if there is one.
func ownIP(family int) (netip.Addr, bool) {
	for _, ip := range launch.Addrs() {
		if ip.Is4() == (family == ma.P_IP4) && !ip.IsLoopback() {
			return ip, true
		}
	}
	return netip.Addr{}, false
}

// onlyIPv6 reports whether other machines reach this one by IPv6 only.
func onlyIPv6() bool {
	_, has4 := ownIP(ma.P_IP4)
	_, has6 := ownIP(ma.P_IP6)
	return has6 && !has4
}

// Loopback is a free port of this machine.
func Loopback() ma.Multiaddr { return ma.StringCast("/ip4/127.0.0.1/tcp/0") }
