package bittorrent

import (
	"container/list"
	"net/netip"
	"time"

	"github.com/anacrolix/torrent/types/infohash"
)

// torrent is the peers of one content.
type torrent struct {
	hash      infohash.T
	peers     map[netip.AddrPort]*peer
	v4, v6    family
	downloads int
}

// peer is a client that listens at an address, for one torrent.
type peer struct {
	addr    netip.AddrPort
	torrent *torrent
	// crowd is where in the torrent it is, at its index there.
	crowd *crowd
	at    int
	// seen is when it announced last, elem its place in the order of that.
	seen time.Time
	elem *list.Element
}

func (p *peer) whole() bool {
	return p.crowd == &p.torrent.v4.whole || p.crowd == &p.torrent.v6.whole
}

// families are that of an address, and the other one.
func (t *torrent) families(a netip.Addr) (own, other *family) {
	if a.Is4() {
		return &t.v4, &t.v6
	}
	return &t.v6, &t.v4
}

// place puts p among those that have all, or among the others.
func (t *torrent) place(p *peer, whole bool) {
	f, _ := t.families(p.addr.Addr())
	to := &f.partial
	if whole {
		to = &f.whole
	}
	if p.crowd == to {
		return
	}
	if p.crowd != nil {
		p.crowd.remove(p)
	}
	to.add(p)
}

// tally counts the peers. A client that announces by IPv4 and by IPv6 is two.
func (t *torrent) tally() tally {
	return tally{
		whole:     len(t.v4.whole) + len(t.v6.whole),
		partial:   len(t.v4.partial) + len(t.v6.partial),
		downloads: t.downloads,
	}
}
