package netns

import (
	"net"
	"net/netip"
)

// Cluster c, from 0, has the network 10.(c+1).0.0/16: its gateway is host 1, its node i host i+2.
// The link between clusters a < b has the two addresses of 10.0.(16a+b).0/31, the lower one in a.

const clusterBits, wanBits = 16, 31

// The limits of this numbering.
const (
	maxClusters = 16
	maxNodes    = 1000
	maxRacks    = 1000
)

// clusterIP is the address of a host of a cluster.
func clusterIP(cluster, host int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(cluster + 1), byte(host >> 8), byte(host)})
}

func gatewayIP(cluster int) netip.Addr { return clusterIP(cluster, 1) }

func nodeIP(cluster, node int) netip.Addr { return clusterIP(cluster, node+2) }

// wanIP is the address of a cluster's gateway on its link to the gateway of peer.
func wanIP(cluster, peer int) netip.Addr {
	low, high := min(cluster, peer), max(cluster, peer)
	end := byte(0)
	if cluster == high {
		end = 1
	}
	return netip.AddrFrom4([4]byte{10, 0, byte(maxClusters*low + high), end})
}

// clusterNet is the network of a cluster.
func clusterNet(cluster int) *net.IPNet {
	return ipNet(netip.PrefixFrom(clusterIP(cluster, 0), clusterBits))
}

// everywhere is the network of all addresses.
func everywhere() *net.IPNet {
	return ipNet(netip.PrefixFrom(netip.IPv4Unspecified(), 0))
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// mac is the hardware address of the interface with an IP address. As it is known beforehand, no
// ARP is needed.
func mac(ip netip.Addr) net.HardwareAddr {
	b := ip.As4()
	return net.HardwareAddr{0x02, 0, b[0], b[1], b[2], b[3]}
}
