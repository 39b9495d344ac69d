package bittorrent

import (
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/mobgrid/mob/mob/quota"
)

const (
	// maxAddrs bounds the addresses of a torrent. A tracker may name as many as are free.
	maxAddrs = 1000
	// minBackoff is the pause after the first failed dial or the end of a connection.
	// It doubles up to maxBackoff. Then an address from a tracker is dropped until one
	// returns it again.
	minBackoff = 5 * time.Second
	maxBackoff = 10 * time.Minute
)

// addrList contains the addresses of clients, with the time to dial each. Safe for
// concurrent use.
type addrList struct {
	// changed holds a token when there may be an address to dial.
	changed chan struct{}

	mu     sync.Mutex
	m      map[netip.AddrPort]*addrState
	shares *quota.Quota[string] // by tracker
}

type addrState struct {
	from    string // its tracker
	busy    bool   // being dialed, or connected
	next    time.Time
	backoff time.Duration
}

func newAddrList() *addrList {
	return &addrList{changed: make(chan struct{}, 1), m: map[netip.AddrPort]*addrState{}, shares: quota.New[string](maxAddrs)}
}

// add adds addresses from a tracker, or from a link if that is empty, as far as there is room. It skips invalid ones.
func (l *addrList) add(from string, addrs []netip.AddrPort) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range addrs {
		if a.Port() == 0 || !a.Addr().IsValid() || a.Addr().IsUnspecified() || a.Addr().IsMulticast() {
			continue
		}
		if l.m[a] == nil && l.shares.Take(from) {
			l.m[a] = &addrState{from: from, backoff: minBackoff}
		}
	}
	l.signal()
}

func (l *addrList) signal() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// next returns an address to dial now, which is busy until release. Without one it
// returns how long to wait.
func (l *addrList) next(now time.Time) (a netip.AddrPort, wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	wait = time.Minute
	for a, s := range l.m {
		switch {
		case s.busy:
		case !now.Before(s.next):
			s.busy = true
			return a, 0, true
		default:
			wait = min(wait, s.next.Sub(now))
		}
	}
	return a, wait, false
}

// release ends the use of an address after a duration, with the error that ended it. An
// address that failed is dialed with backoff, a useless one rarely.
func (l *addrList) release(a netip.AddrPort, now time.Time, duration time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.m[a]
	if s == nil {
		return
	}
	s.busy = false
	switch {
	case isUseless(err):
		s.backoff = maxBackoff
	case duration > s.backoff:
		s.backoff = minBackoff
	case s.backoff >= maxBackoff && s.from != "":
		delete(l.m, a)
		l.shares.Release(s.from)
		return
	}
	s.next = now.Add(s.backoff)
	s.backoff = min(2*s.backoff, maxBackoff)
	l.signal()
}

// isUseless reports whether the next connection to a client would likely end with the
// same error.
func isUseless(err error) bool {
	all := []error{errMobNode, errSelf, errBothSeeds, errDuplicate, errBanned, errProtocol}
	return slices.ContainsFunc(all, func(e error) bool { return errors.Is(err, e) })
}
