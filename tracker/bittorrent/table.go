package bittorrent

import (
	"container/list"
	"errors"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/anacrolix/torrent/types/infohash"
)

// table is who is where. It computes only: the time is passed in, and the caller
// serialises the calls. Errors are for the client.
//
// All peers expire after the same time, so one list in the order of announces has
// the next to expire at its front.
type table struct {
	cfg      Config
	rng      *rand.Rand
	admitted map[infohash.T]struct{} // nil for all torrents
	torrents map[infohash.T]*torrent
	hosts    map[netip.Addr]int // peers by host
	order    *list.List         // of *peer, least recently announced first
	now      time.Time          // latest time passed in: time does not run backwards here
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

// host is what an address counts for: an IPv6 client has a /64 of them.
func host(a netip.Addr) netip.Addr {
	if a.Is6() {
		p, _ := a.Prefix(64) // fails for longer ones than addresses have only
		return p.Addr()
	}
	return a
}

// announce remembers the peer, or forgets it when it stops.
func (t *table) announce(now time.Time, a *announce) (answer, error) {
	t.expire(now)
	if t.admitted != nil {
		if _, ok := t.admitted[a.hash]; !ok {
			return answer{}, errors.New("the torrent is not tracked here")
		}
	}
	if a.addr.Port() == 0 {
		return answer{}, errors.New("port 0 is no port to listen at")
	}
	if a.event == stopped {
		return answer{interval: t.interval(), tally: t.leave(a)}, nil
	}
	p, err := t.join(a)
	if err != nil {
		return answer{}, err
	}
	if a.event == completed && a.left == 0 && !p.whole() {
		p.torrent.downloads++
	}
	p.torrent.place(p, a.left == 0)
	return t.answer(p, a), nil
}

// join is the peer of an announce, which is new while the limits allow. One that
// is known always may stay.
func (t *table) join(a *announce) (*peer, error) {
	to := t.torrents[a.hash]
	if to != nil {
		if p := to.peers[a.addr]; p != nil {
			t.order.MoveToBack(p.elem)
			p.seen = t.now
			return p, nil
		}
	}
	h := host(a.addr.Addr())
	switch {
	case to == nil && len(t.torrents) >= t.cfg.MaxTorrents:
		return nil, errors.New("the tracker has as many torrents as it may")
	case to != nil && len(to.peers) >= t.cfg.MaxTorrentPeers:
		return nil, errors.New("the torrent has as many peers as it may")
	case t.order.Len() >= t.cfg.MaxPeers:
		return nil, errors.New("the tracker has as many peers as it may")
	case t.hosts[h] >= t.cfg.MaxHostPeers:
		return nil, errors.New("your address has as many peers as it may")
	}
	if to == nil {
		to = &torrent{hash: a.hash, peers: make(map[netip.AddrPort]*peer)}
		t.torrents[a.hash] = to
	}
	p := &peer{addr: a.addr, torrent: to, seen: t.now}
	p.elem = t.order.PushBack(p)
	to.peers[a.addr] = p
	to.place(p, false)
	t.hosts[h]++
	return p, nil
}

func (t *table) answer(p *peer, a *announce) answer {
	n := a.wanted()
	own, other := p.torrent.families(a.addr.Addr())
	mine := own.handout(n, p, t.rng)
	var rest []netip.AddrPort
	if a.both {
		rest = other.handout(n-len(mine), p, t.rng)
	}
	out := answer{interval: t.interval(), tally: p.torrent.tally(), peers4: mine, peers6: rest}
	if a.addr.Addr().Is6() {
		out.peers4, out.peers6 = rest, mine
	}
	return out
}

// leave forgets the peer of an announce, if it is known, and counts who is left.
func (t *table) leave(a *announce) tally {
	to := t.torrents[a.hash]
	if to == nil {
		return tally{}
	}
	if p := to.peers[a.addr]; p != nil {
		t.drop(p)
	}
	return to.tally()
}

// interval has a tenth of jitter to either side: clients that began together do
// not stay in step.
func (t *table) interval() time.Duration {
	return time.Duration((0.9 + 0.2*t.rng.Float64()) * float64(t.cfg.Interval))
}

// scrape counts the peers of a torrent; false for one that is not known.
func (t *table) scrape(now time.Time, hash infohash.T) (tally, bool) {
	t.expire(now)
	to := t.torrents[hash]
	if to == nil {
		return tally{}, false
	}
	return to.tally(), true
}

// admit tracks these torrents only, and forgets the others.
func (t *table) admit(only map[infohash.T]struct{}) {
	t.admitted = only
	for hash, to := range t.torrents {
		if _, ok := only[hash]; ok {
			continue
		}
		for _, p := range to.peers {
			t.drop(p)
		}
	}
}

// expire drops the peers that have not announced for too long.
func (t *table) expire(now time.Time) {
	if now.After(t.now) {
		t.now = now
	}
	for e := t.order.Front(); e != nil; e = t.order.Front() {
		p := e.Value.(*peer)
		if t.now.Sub(p.seen) < t.cfg.Expiry {
			return
		}
		t.drop(p)
	}
}

func (t *table) drop(p *peer) {
	t.order.Remove(p.elem)
	p.crowd.remove(p)
	delete(p.torrent.peers, p.addr)
	if len(p.torrent.peers) == 0 {
		delete(t.torrents, p.torrent.hash)
	}
	h := host(p.addr.Addr())
	if t.hosts[h]--; t.hosts[h] == 0 {
		delete(t.hosts, h)
	}
}
