// Package address reads the addresses that people give, and finds those that others
// can dial.
package address

import (
	"fmt"
	"net"
	"slices"

	"github.com/libp2p/go-libp2p/core/host"
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// ParseListen reads addresses to listen at.
func ParseListen(texts []string) ([]ma.Multiaddr, error) {
	var out []ma.Multiaddr
	for _, text := range texts {
		a, err := ma.NewMultiaddr(text)
		if err == nil {
			_, err = a.ValueForProtocol(ma.P_TCP)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot listen at %q: give an address such as /ip4/0.0.0.0/tcp/4001", text)
		}
		out = append(out, a)
	}
	return out, nil
}

// ParseTrackers reads addresses of trackers.
func ParseTrackers(texts []string) ([]ma.Multiaddr, error) {
	var out []ma.Multiaddr
	for _, text := range texts {
		a, err := ma.NewMultiaddr(text)
		if err == nil {
			_, err = libpeer.AddrInfoFromP2pAddr(a)
		}
		if err != nil {
			return nil, fmt.Errorf("%q is no tracker's address: give the first line that `mob tracker` prints there", text)
		}
		if !slices.ContainsFunc(out, a.Equal) {
			out = append(out, a)
		}
	}
	return out, nil
}

// Own is the address of a host to print: the first one that it was told to
// listen at, with the port that it got. Nobody can dial an unspecified IP, so
// that is replaced by the one through which this machine reaches others.
func Own(h host.Host, listen ma.Multiaddr) ma.Multiaddr {
	a := withPort(listen, h.Network().ListenAddresses())
	if manet.IsIPUnspecified(a) {
		a = reachable(a, h.Addrs())
	}
	return a.Encapsulate(ma.StringCast("/p2p/" + h.ID().String()))
}

// withPort is listen with the port that was bound for it.
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

// reachable picks, of a host's addresses, the one in place of unspecified.
func reachable(unspecified ma.Multiaddr, all []ma.Multiaddr) ma.Multiaddr {
	family, _ := ma.SplitFirst(unspecified)
	same := slices.DeleteFunc(slices.Clone(all), func(a ma.Multiaddr) bool {
		first, _ := ma.SplitFirst(a)
		return first.Code() != family.Code()
	})
	route := routeIP(family.Code())
	rank := func(a ma.Multiaddr) int {
		ip, err := manet.ToIP(a)
		switch {
		case err != nil || manet.IsIPLoopback(a):
			return 3
		case route != nil && ip.Equal(route):
			return 0
		case manet.IsIP6LinkLocal(a):
			return 2
		}
		return 1
	}
	slices.SortStableFunc(same, func(a, b ma.Multiaddr) int { return rank(a) - rank(b) })
	if len(same) == 0 {
		return unspecified
	}
	return same[0]
}

// routeIP is the address of this machine that its default route uses, nil when it
// has none. Nothing is sent: connecting a UDP socket only picks a route.
func routeIP(family int) net.IP {
	network, far := "udp4", "192.0.2.1:9"
	if family == ma.P_IP6 {
		network, far = "udp6", "[2001:db8::1]:9"
	}
	c, err := net.Dial(network, far)
	if err != nil {
		return nil
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).IP
}
