package bittorrent

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// newLimit is a token bucket of bytes per second, nil for no bound. It lets through
// what goes out in a fifth of a second, or one batch, at once.
func newLimit(bytes int64) *rate.Limiter {
	if bytes <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(bytes), max(int(bytes/5), batchSize))
}

// nearby says which addresses are in the networks of this machine's own interfaces.
// Safe for concurrent use.
type nearby struct {
	mu   sync.Mutex
	nets []netip.Prefix
	at   time.Time
}

// nearbyFor is how long the interfaces are taken to be the same.
const nearbyFor = time.Minute

func (n *nearby) has(a netip.Addr) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now := time.Now(); now.Sub(n.at) > nearbyFor {
		n.at, n.nets = now, n.nets[:0]
		addrs, _ := net.InterfaceAddrs() // without them everybody is far
		for _, addr := range addrs {
			if p, err := netip.ParsePrefix(addr.String()); err == nil {
				n.nets = append(n.nets, p.Masked())
			}
		}
	}
	for _, p := range n.nets {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
