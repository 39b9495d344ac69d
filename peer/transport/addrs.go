package transport

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/mobgrid/mob/peer/routes"
)

// ParseAddrs parses binary multiaddrs and skips those that are invalid.
func ParseAddrs(addrs [][]byte) []ma.Multiaddr {
	out := make([]ma.Multiaddr, 0, len(addrs))
	for _, b := range addrs {
		if a, err := ma.NewMultiaddrBytes(b); err == nil {
			out = append(out, a)
		}
	}
	return out
}

// AddrInfos groups multiaddrs that end in /p2p/ID by peer, in the order in which the
// peers first appear. It skips other addresses and self's addresses.
func AddrInfos(addrs []ma.Multiaddr, self peer.ID) []peer.AddrInfo {
	var out []peer.AddrInfo
	index := map[peer.ID]int{}
	for _, a := range addrs {
		info, err := peer.AddrInfoFromP2pAddr(a)
		if err != nil || info.ID == self {
			continue
		}
		if i, ok := index[info.ID]; ok {
			out[i].Addrs = append(out[i].Addrs, info.Addrs...)
			continue
		}
		index[info.ID] = len(out)
		out = append(out, *info)
	}
	return out
}

// listenAddrsAge bounds the age of this machine's cached addresses. It may move to another network.
const listenAddrsAge = 5 * time.Second

// listenAddrs resolves the addresses at which a network listens. Its methods may be called from any
// goroutine.
type listenAddrs struct {
	mu    sync.Mutex
	known []ma.Multiaddr
	until time.Time
}

// of returns the addresses, sorted, but the addresses of the default routes first: a node announces a part of them if there are many, as
// of bridges of containers, or of the services of Kubernetes. The caller may change the slice.
func (l *listenAddrs) of(n network.Network) []ma.Multiaddr {
	all := n.ListenAddresses()
	if !slices.ContainsFunc(all, manet.IsIPUnspecified) {
		return sortAddrs(all)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.After(l.until) {
		if resolved, err := manet.ResolveUnspecifiedAddresses(all, nil); err == nil {
			l.known, l.until = routesFirst(sortAddrs(resolved), routes.Default()), now.Add(listenAddrsAge)
		}
	}
	return slices.Clone(l.known)
}

// routesFirst moves the addresses with one of some IPs to the front.
func routesFirst(all []ma.Multiaddr, first []netip.Addr) []ma.Multiaddr {
	rank := func(a ma.Multiaddr) int {
		ip, _ := manet.ToIP(a) // nil for a name
		if at, ok := netip.AddrFromSlice(ip); ok && slices.Contains(first, at.Unmap()) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b ma.Multiaddr) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}

func sortAddrs(all []ma.Multiaddr) []ma.Multiaddr {
	slices.SortFunc(all, ma.Multiaddr.Compare)
	return slices.CompactFunc(all, ma.Multiaddr.Equal)
}

// rankDials orders the addresses of a peer as libp2p does, but dials public ones after private ones. libp2p dials both
// immediately, and a peer that has both gets two connections, one of which is closed after its handshakes. An
// address that fails is followed by the next without a delay, and so is one that is slow to accept after
// [swarm.PublicTCPDelay].
func rankDials(addrs []ma.Multiaddr) []network.AddrDelay {
	ranked := swarm.DefaultDialRanker(addrs)
	private := false
	for _, d := range ranked {
		private = private || manet.IsPrivateAddr(d.Addr)
	}
	for i := range ranked {
		if private && !manet.IsPrivateAddr(ranked[i].Addr) {
			ranked[i].Delay += swarm.PublicTCPDelay
		}
	}
	return ranked
}
