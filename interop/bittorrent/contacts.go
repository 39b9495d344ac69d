package bittorrent

import (
	"errors"
	"net/netip"
	"sync"
	"time"
)

// contacts are addresses at which guests may be. Safe for concurrent use.
type contacts struct {
	// news holds a token when there may be somebody to dial.
	news chan struct{}

	mu sync.Mutex
	m  map[netip.AddrPort]*contact
}

// contact is one address.
type contact struct {
	busy  bool // it is dialled, or a guest
	next  time.Time
	pause time.Duration
}

const (
	// maxContacts bounds the addresses of a swarm that are remembered, and maxDials
	// those that are dialled at a time.
	maxContacts = 1000
	maxDials    = 8
	// firstPause comes after a failed dial or the end of a connection, and doubles up
	// to lastPause. After that long, one that no tracker tells of any more is forgotten.
	firstPause = 5 * time.Second
	lastPause  = 10 * time.Minute
	// dialTimeout bounds one dial.
	dialTimeout = 8 * time.Second
)

func newContacts() *contacts {
	return &contacts{news: make(chan struct{}, 1), m: map[netip.AddrPort]*contact{}}
}

// add takes in addresses that somebody told of.
func (c *contacts) add(addrs []netip.AddrPort) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range addrs {
		if a.Port() == 0 || !a.Addr().IsValid() || a.Addr().IsUnspecified() || a.Addr().IsMulticast() {
			continue
		}
		if c.m[a] == nil && len(c.m) < maxContacts {
			c.m[a] = &contact{pause: firstPause}
		}
	}
	c.wake()
}

func (c *contacts) wake() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// take chooses an address to dial now. Without one it says when to look again.
func (c *contacts) take(now time.Time) (a netip.AddrPort, wait time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	wait = time.Minute
	for a, k := range c.m {
		switch {
		case k.busy:
		case !now.Before(k.next):
			k.busy = true
			return a, 0, true
		default:
			wait = min(wait, k.next.Sub(now))
		}
	}
	return a, wait, false
}

// done notes that an address is free again, and why: one that failed is left alone
// for longer each time, and one that is no use for long.
func (c *contacts) done(a netip.AddrPort, now time.Time, lasted time.Duration, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.m[a]
	if k == nil {
		return
	}
	k.busy = false
	switch {
	case errors.Is(why, errNode), errors.Is(why, errSelf), errors.Is(why, errBothWhole), errors.Is(why, errTwice), errors.Is(why, errBanned), errors.Is(why, errProtocol):
		k.pause = lastPause
	case lasted > k.pause:
		k.pause = firstPause
	case k.pause >= lastPause:
		delete(c.m, a)
		return
	}
	k.next = now.Add(k.pause)
	k.pause = min(2*k.pause, lastPause)
	c.wake()
}
