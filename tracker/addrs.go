package tracker

import (
	"slices"

	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// maxAddrBytes bounds the addresses that are kept of a member, together: a dozen
// usual ones. With it the table's memory and a handout's frame are bounded.
const maxAddrBytes = 512

// memberAddrs is where to find a member that announced these addresses from
// remote. Those that cannot be read are left out, which does no harm to the
// others: they may be of a kind newer than this tracker.
//
// A member often knows the port it listens on but not the address that others
// see. So an unspecified IP, which nobody can dial, is replaced by the remote's;
// and when the member names only loopback addresses, though it is elsewhere,
// copies with the remote's IP are added. One that names none gets the remote
// address itself: libp2p dials from its listening port where it can.
func memberAddrs(announced [][]byte, remote multiaddr.Multiaddr) [][]byte {
	seen := observed(remote)
	var keep, loopback []multiaddr.Multiaddr
	dialable := false
	for _, b := range announced {
		a, err := multiaddr.NewMultiaddrBytes(b)
		if err != nil {
			continue
		}
		a = withoutPeerID(a)
		switch {
		case len(a) == 0:
		case manet.IsIPUnspecified(a):
			if a := withIP(a, seen); a != nil {
				keep, dialable = append(keep, a), true
			}
		case manet.IsIPLoopback(a):
			keep, loopback = append(keep, a), append(loopback, a)
		default:
			keep, dialable = append(keep, a), true
		}
	}
	if !dialable && seen != nil && !manet.IsIPLoopback(seen) {
		for _, a := range loopback {
			if a := withIP(a, seen); a != nil {
				keep = append(keep, a)
			}
		}
	}
	if len(announced) == 0 && seen != nil {
		keep = append(keep, remote)
	}
	return pack(keep)
}

// withoutPeerID is a without the member's own id at its end; a relay's id inside
// of it stays.
func withoutPeerID(a multiaddr.Multiaddr) multiaddr.Multiaddr {
	if rest, last := multiaddr.SplitLast(a); last != nil && last.Code() == multiaddr.P_P2P {
		return rest
	}
	return a
}

// observed is the IP part of where a stream comes from, nil when that is not the
// member itself but a relay, or no IP at all.
func observed(remote multiaddr.Multiaddr) multiaddr.Multiaddr {
	if _, err := remote.ValueForProtocol(multiaddr.P_CIRCUIT); err == nil {
		return nil
	}
	ip, err := manet.ToIP(remote)
	if err != nil {
		return nil
	}
	a, err := manet.FromIP(ip)
	if err != nil {
		return nil
	}
	return a
}

// withIP is a with ip in place of its own, nil if a listener at a cannot be
// reached there: one on IPv4 is not reached over IPv6.
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

// pack is the addresses as bytes, each once, as many as fit.
func pack(addrs []multiaddr.Multiaddr) [][]byte {
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
