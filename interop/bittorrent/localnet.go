package bittorrent

import (
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/mobgrid/mob/proto/reach"
)

// localNets lists the networks of this machine's interfaces. Safe for concurrent use.
type localNets struct {
	mu   sync.Mutex
	nets []netip.Prefix
	at   time.Time
}

// localNetsFor is the maximum age of the list.
const localNetsFor = time.Minute

func (l *localNets) contains(a netip.Addr) bool {
	return slices.ContainsFunc(l.list(), func(p netip.Prefix) bool { return p.Contains(a) })
}

func (l *localNets) private() bool {
	return slices.ContainsFunc(l.list(), func(p netip.Prefix) bool { return reach.Of(p.Addr()) == reach.ThisSite })
}

func (l *localNets) list() []netip.Prefix {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.at) > localNetsFor {
		l.at, l.nets = now, nil
		addrs, _ := net.InterfaceAddrs() // without them no address is local
		for _, addr := range addrs {
			if p, err := netip.ParsePrefix(addr.String()); err == nil {
				l.nets = append(l.nets, p.Masked())
			}
		}
	}
	return l.nets
}
