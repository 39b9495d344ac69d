package bittorrent

import (
	"container/list"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/anacrolix/torrent/types/infohash"

	"github.com/mobgrid/mob/proto/reach"
)

// torrent is the peers of one info-hash.
type torrent struct {
	hash      infohash.T
	peers     map[netip.AddrPort]*peer
	v4, v6    family
	completed int32 // downloads that have completed here
}

// family is the peers of a torrent with addresses of one family.
type family struct{ seeders, leechers peerList }

// peer is a client that listens at an address, for one torrent.
type peer struct {
	addr     netip.AddrPort
	torrent  *torrent
	list     *peerList // where the peer is, at index
	index    int
	lastSeen time.Time
	elem     *list.Element // in table.order
}

func (p *peer) isSeeder() bool {
	return p.list == &p.torrent.v4.seeders || p.list == &p.torrent.v6.seeders
}

// families are the family of an address, and the other one.
func (t *torrent) families(a netip.Addr) (own, other *family) {
	if a.Is4() {
		return &t.v4, &t.v6
	}
	return &t.v6, &t.v4
}

// put moves p to the list of seeders or that of leechers.
func (t *torrent) put(p *peer, seeder bool) {
	f, _ := t.families(p.addr.Addr())
	to := &f.leechers
	if seeder {
		to = &f.seeders
	}
	if p.list == to {
		return
	}
	if p.list != nil {
		p.list.remove(p)
	}
	to.add(p)
}

// Counts are the numbers of peers of a torrent, and of completed downloads. It is exported for the bencode
// package, which ignores an embedded field that is not.
type Counts struct {
	Seeders   int32 `bencode:"complete"`
	Completed int32 `bencode:"downloaded"`
	Leechers  int32 `bencode:"incomplete"`
}

// counts counts the peers. A client that announces by IPv4 and by IPv6 is two.
func (t *torrent) counts() Counts {
	return Counts{
		Seeders:   int32(len(t.v4.seeders) + len(t.v6.seeders)),
		Completed: t.completed,
		Leechers:  int32(len(t.v4.leechers) + len(t.v6.leechers)),
	}
}

// sample is up to n peers for self, which may be of another family. A leecher gets
// seeders and leechers, half of each where there are enough: seeders have every
// piece, and other leechers are there to exchange pieces with. A seeder gets seeders
// only where there are too few leechers: aria2 and Transmission announce that nothing
// is left while they have a magnet link only.
func (f *family) sample(n int, self *peer, rng *rand.Rand) []netip.AddrPort {
	leechers := n
	if !self.isSeeder() {
		leechers -= min(n/2, len(f.seeders))
	}
	out := f.leechers.sample(nil, leechers, self, rng)
	return f.seeders.sample(out, n-len(out), self, rng)
}

// peerList is an unordered list of peers, each of which knows its index.
type peerList []*peer

func (l *peerList) add(p *peer) {
	p.list, p.index = l, len(*l)
	*l = append(*l, p)
}

func (l *peerList) remove(p *peer) {
	last := len(*l) - 1
	l.swap(p.index, last)
	(*l)[last] = nil
	*l = (*l)[:last]
}

func (l peerList) swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].index, l[j].index = i, j
}

// sample appends the addresses of n random peers other than self that self can reach, or
// of all where there are fewer.
func (l peerList) sample(out []netip.AddrPort, n int, self *peer, rng *rand.Rand) []netip.AddrPort {
	for i := 0; i < len(l) && n > 0; i++ {
		l.swap(i, i+rng.IntN(len(l)-i))
		if l[i] != self && reachable(l[i].addr.Addr(), self.addr.Addr()) {
			out = append(out, l[i].addr)
			n--
		}
	}
	return out
}

// reachable reports whether an address may be sent to a client: a loopback or link-local one only
// to a client whose address is one, or it would connect to its own machine or link.
func reachable(a, client netip.Addr) bool {
	r := reach.Of(a)
	return r >= reach.ThisSite || r == reach.Of(client)
}
