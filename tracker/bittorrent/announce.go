package bittorrent

import (
	"net/netip"
	"time"

	"github.com/anacrolix/torrent/types/infohash"
)

// How many peers a client is told of.
const (
	defaultWant = 50
	maxWant     = 200
)

// event is what made a client announce, with the numbers of BEP 15.
type event uint32

const (
	regular event = iota
	completed
	started
	stopped
)

// announce is a client's request, by HTTP or UDP.
type announce struct {
	hash infohash.T
	// addr is where the client listens: an address without zone, IPv4 as such.
	addr netip.AddrPort
	// left is how many bytes it lacks: 0 for a seed, negative when it does not
	// know.
	left  int64
	event event
	// want is how many peers it would be told of; negative for as many as usual.
	want int64
	// both asks for peers of the other address family too (BEP 7).
	both bool
}

// wanted is how many peers to tell of.
func (a *announce) wanted() int {
	if a.want < 0 {
		return defaultWant
	}
	return int(min(a.want, maxWant))
}

// answer is what a client is told.
type answer struct {
	// interval is when to announce again.
	interval time.Duration
	tally
	// peers4 and peers6 are others, by address family.
	peers4, peers6 []netip.AddrPort
}

// tally is what a scrape tells of a torrent.
type tally struct {
	// whole and partial count peers, downloads how many became whole here.
	whole, partial, downloads int
}

// appendCompact appends peers as BEP 23 and BEP 7 have them: address and port.
func appendCompact(b []byte, peers []netip.AddrPort) []byte {
	for _, p := range peers {
		b = append(b, p.Addr().AsSlice()...)
		b = append(b, byte(p.Port()>>8), byte(p.Port()))
	}
	return b
}
