package tracker

import (
	"net/netip"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/proto/reach"
)

// maxAddrBytes bounds the addresses of a member, together: about a dozen. It bounds
// the table's memory and a reply's frame.
const maxAddrBytes = 512

// memberAddrs is the addresses of a member that announced these from remote. It
// skips those that it cannot parse: they may be of a protocol newer than this
// tracker.
//
// A member often knows its port but not its public address. So the remote's IP replaces an unspecified one, which is not dialable; and if a
// remote member announces only loopback addresses, they get the remote's IP. Other
// loopback and link-local addresses are dropped unless the member's remote address is one:
// whoever dialed them would reach its own machine or link. A member that announces none
// gets the remote address itself: libp2p dials from its listening port where it can.
func memberAddrs(announced [][]byte, remote multiaddr.Multiaddr) [][]byte {
	ip := observedIP(remote)
	from := reach.IP(ip)
	var out, loopback []multiaddr.Multiaddr
	dialable := false
	for _, b := range announced {
		a, err := multiaddr.NewMultiaddrBytes(b)
		if err != nil {
			continue
		}
		a, _ = peer.SplitAddr(a)
		at := reach.IP(a)
		switch sent := reach.MayLearn(from, at); {
		case len(a) == 0:
		case manet.IsIPUnspecified(a):
			if a := withIP(a, ip); a != nil {
				out, dialable = append(out, a), true
			}
		case at.IsLoopback() && !sent:
			loopback = append(loopback, a)
		case at.IsValid() && !sent:
		default:
			out, dialable = append(out, a), true
		}
	}
	if !dialable {
		for _, a := range loopback {
			if a := withIP(a, ip); a != nil {
				out = append(out, a)
			}
		}
	}
	if len(announced) == 0 && ip != nil {
		out = append(out, remote)
	}
	return encodeAddrs(out)
}

// observedIP is the IP of a stream's remote address, nil if that is a relay's or has
// no IP.
func observedIP(remote multiaddr.Multiaddr) multiaddr.Multiaddr {
	if _, err := remote.ValueForProtocol(multiaddr.P_CIRCUIT); err == nil {
		return nil
	}
	ip, _ := manet.ToIP(remote)
	a, _ := manet.FromIP(ip)
	return a
}

// hostOf returns the host that a remote address is charged to. All addresses without an IP are one host.
func hostOf(remote multiaddr.Multiaddr) netip.Addr {
	return quota.Host(reach.IP(remote))
}

// withIP replaces the IP of a by ip. It returns nil if a listener at a cannot be reached
// there, as an IPv4 listener cannot over IPv6.
func withIP(a, ip multiaddr.Multiaddr) multiaddr.Multiaddr {
	if ip == nil {
		return nil
	}
	own, rest := multiaddr.SplitFirst(a)
	if own.Code() == multiaddr.P_IP6ZONE {
		own, rest = multiaddr.SplitFirst(rest)
	}
	if len(rest) == 0 || own.Code() == multiaddr.P_IP4 && ip[0].Code() != multiaddr.P_IP4 {
		return nil
	}
	return ip.Encapsulate(rest)
}

// encodeAddrs encodes the addresses without duplicates, as many as fit maxAddrBytes.
func encodeAddrs(addrs []multiaddr.Multiaddr) [][]byte {
	out, size := make([][]byte, 0, len(addrs)), 0
	for i, a := range addrs {
		b := a.Bytes()
		if slices.ContainsFunc(addrs[:i], a.Equal) || size+len(b) > maxAddrBytes {
			continue
		}
		out, size = append(out, b), size+len(b)
	}
	return out
}
