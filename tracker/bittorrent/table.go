package bittorrent

import (
	"container/list"
	"errors"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/anacrolix/torrent/types/infohash"
)

// table is the peers of all torrents. It has no clock and no lock: the caller passes
// the time and serialises the calls. Errors are for the client.
//
// All peers expire after the same time, so one list in the order of announces has
// the next to expire at its front.
type table struct {
	cfg      Config
	rng      *rand.Rand
	allowed  map[infohash.T]struct{} // nil for all torrents
	torrents map[infohash.T]*torrent
	hosts    map[netip.Addr]int // peers by host
	order    *list.List         // of *peer, least recently announced first
	now      time.Time          // the latest time passed in: it never goes back
}

func newTable(cfg Config) *table {
	seed := cfg.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	return &table{
		cfg:      cfg,
		rng:      rand.New(rand.NewPCG(seed, 0)),
		torrents: make(map[infohash.T]*torrent),
		hosts:    make(map[netip.Addr]int),
		order:    list.New(),
	}
}

// host is what an address counts as in the limit of a host's peers: an IPv6 client
// has a /64 of addresses.
func host(a netip.Addr) netip.Addr {
	if a.Is6() {
		p, _ := a.Prefix(64) // fails only if the prefix is longer than the address
		return p.Addr()
	}
	return a
}

// announce adds or updates a peer, or removes it when it stops.
func (t *table) announce(now time.Time, a *announce) (announceResult, error) {
	t.expire(now)
	if t.allowed != nil {
		if _, ok := t.allowed[a.hash]; !ok {
			return announceResult{}, errors.New("this tracker does not serve the torrent")
		}
	}
	if a.addr.Port() == 0 {
		return announceResult{}, errors.New("port 0 is not a valid port")
	}
	if a.event == "stopped" {
		return announceResult{interval: t.interval(), counts: t.leave(a)}, nil
	}
	p, err := t.join(a)
	if err != nil {
		return announceResult{}, err
	}
	if a.event == "completed" && a.left == 0 && !p.isSeeder() {
		p.torrent.completed++
	}
	p.torrent.put(p, a.left == 0)
	return t.result(p, a), nil
}

// join returns the peer of an announce. A known one is always accepted, a new one
// within the limits.
func (t *table) join(a *announce) (*peer, error) {
	to := t.torrents[a.hash]
	if to != nil {
		if p := to.peers[a.addr]; p != nil {
			t.order.MoveToBack(p.elem)
			p.lastSeen = t.now
			return p, nil
		}
	}
	h := host(a.addr.Addr())
	switch {
	case to == nil && len(t.torrents) >= t.cfg.MaxTorrents:
		return nil, errors.New("the tracker has reached its limit of torrents")
	case to != nil && len(to.peers) >= t.cfg.MaxTorrentPeers:
		return nil, errors.New("the torrent has reached its limit of peers")
	case t.order.Len() >= t.cfg.MaxPeers:
		return nil, errors.New("the tracker has reached its limit of peers")
	case t.hosts[h] >= t.cfg.MaxHostPeers:
		return nil, errors.New("your address has reached its limit of peers")
	}
	if to == nil {
		to = &torrent{hash: a.hash, peers: make(map[netip.AddrPort]*peer)}
		t.torrents[a.hash] = to
	}
	p := &peer{addr: a.addr, torrent: to, lastSeen: t.now}
	p.elem = t.order.PushBack(p)
	to.peers[a.addr] = p
	to.put(p, false)
	t.hosts[h]++
	return p, nil
}

func (t *table) result(p *peer, a *announce) announceResult {
	n := a.maxPeers()
	own, other := p.torrent.families(a.addr.Addr())
	ownPeers := own.sample(n, p, t.rng)
	otherPeers := other.sample(n-len(ownPeers), p, t.rng)
	out := announceResult{interval: t.interval(), counts: p.torrent.counts(), peers4: ownPeers, peers6: otherPeers}
	if a.addr.Addr().Is6() {
		out.peers4, out.peers6 = otherPeers, ownPeers
	}
	return out
}

// leave removes the peer of an announce, if it is known, and counts those that are
// left.
func (t *table) leave(a *announce) Counts {
	to := t.torrents[a.hash]
	if to == nil {
		return Counts{}
	}
	if p := to.peers[a.addr]; p != nil {
		t.remove(p)
	}
	return to.counts()
}

// interval is the announce interval with a tenth of jitter to either side: clients
// that joined at the same time do not stay in step.
func (t *table) interval() time.Duration {
	return time.Duration((0.9 + 0.2*t.rng.Float64()) * float64(t.cfg.Interval))
}

// scrape counts the peers of a torrent; false if it is not known.
func (t *table) scrape(now time.Time, hash infohash.T) (Counts, bool) {
	t.expire(now)
	to := t.torrents[hash]
	if to == nil {
		return Counts{}, false
	}
	return to.counts(), true
}

// allow restricts the tracker to these torrents, and removes all others.
func (t *table) allow(only map[infohash.T]struct{}) {
	t.allowed = only
	for hash, to := range t.torrents {
		if _, ok := only[hash]; ok {
			continue
		}
		for _, p := range to.peers {
			t.remove(p)
		}
	}
}

// expire removes the peers that have not announced for Expiry.
func (t *table) expire(now time.Time) {
	if now.After(t.now) {
		t.now = now
	}
	for e := t.order.Front(); e != nil; e = t.order.Front() {
		p := e.Value.(*peer)
		if t.now.Sub(p.lastSeen) < t.cfg.Expiry {
			return
		}
		t.remove(p)
	}
}

func (t *table) remove(p *peer) {
	t.order.Remove(p.elem)
	p.list.remove(p)
	delete(p.torrent.peers, p.addr)
	if len(p.torrent.peers) == 0 {
		delete(t.torrents, p.torrent.hash)
	}
	h := host(p.addr.Addr())
	if t.hosts[h]--; t.hosts[h] == 0 {
		delete(t.hosts, h)
	}
}
