package bittorrent

import (
	"net/netip"
	"time"

	"github.com/anacrolix/torrent/types/infohash"
)

// How many peers a reply has.
const (
	defaultNumWant = 50
	maxNumWant     = 200
)

// announce is a client's request.
type announce struct {
	hash infohash.T
	// addr is where the client listens: an address without zone, IPv4 as such.
	addr netip.AddrPort
	// left is how many bytes it lacks: 0 for a seeder, negative when it does not
	// know.
	left  int64
	event string // started, stopped, completed or empty; any other is as empty
	// numWant is how many peers it asks for; negative for the default.
	numWant int64
}

// maxPeers is how many peers the reply has at most.
func (a *announce) maxPeers() int {
	if a.numWant < 0 {
		return defaultNumWant
	}
	return int(min(a.numWant, maxNumWant))
}

// announceResult is the reply to an announce.
type announceResult struct {
	// interval is when the client announces again.
	interval time.Duration
	counts   Counts
	// peers4 and peers6 are other peers, by address family.
	peers4, peers6 []netip.AddrPort
}

// appendCompact appends the compact form of peers of one address family (BEP 23 and
// BEP 7).
func appendCompact(b []byte, peers []netip.AddrPort) []byte {
	for _, p := range peers {
		b = append(b, p.Addr().AsSlice()...)
		b = append(b, byte(p.Port()>>8), byte(p.Port()))
	}
	return b
}
