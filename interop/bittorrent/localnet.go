package bittorrent

import (
	"net"
	"net/netip"
)

// localNets returns the networks of this machine's interfaces.
func localNets() (nets []netip.Prefix) {
	addrs, _ := net.InterfaceAddrs() // without them no address is local
	for _, addr := range addrs {
		if p, err := netip.ParsePrefix(addr.String()); err == nil {
			nets = append(nets, p.Masked())
		}
	}
	return nets
}
