package transport

import (
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// listenAddrsAge is how long the addresses of this machine are remembered: it may move to another
// network.
const listenAddrsAge = 5 * time.Second

// listenAddrs are the addresses at which a network listens, with those of this machine in place of
// unspecified ones. Its methods may be called from any goroutine.
type listenAddrs struct {
	mu    sync.Mutex
	known []ma.Multiaddr
	until time.Time
}

// of returns the addresses, sorted. The caller may change the slice.
func (l *listenAddrs) of(n network.Network) []ma.Multiaddr {
	all := n.ListenAddresses()
	if !slices.ContainsFunc(all, manet.IsIPUnspecified) {
		return sortAddrs(all)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.After(l.until) {
		if resolved, err := manet.ResolveUnspecifiedAddresses(all, nil); err == nil {
			l.known, l.until = sortAddrs(resolved), now.Add(listenAddrsAge)
		}
	}
	return slices.Clone(l.known)
}

func sortAddrs(all []ma.Multiaddr) []ma.Multiaddr {
	slices.SortFunc(all, ma.Multiaddr.Compare)
	return slices.CompactFunc(all, ma.Multiaddr.Equal)
}
