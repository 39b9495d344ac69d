package peer

import (
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/proto"
)

// maxBook bounds the members whose addresses a swarm remembers.
const maxBook = 50_000

// book holds the addresses at which members said, or others said, that they
// accept connections. It is not safe for concurrent use: a swarm's loop owns it.
type book struct{ m map[proto.PeerID][][]byte }

func newBook() *book { return &book{m: map[proto.PeerID][][]byte{}} }

// maxBookAddrs bounds the addresses of one member, so that an introduction of
// many fits a frame.
const maxBookAddrs = 8

// add replaces what is known of a member, unless nothing is said now.
func (b *book) add(id proto.PeerID, addrs [][]byte) {
	addrs = addrs[:min(len(addrs), maxBookAddrs)]
	if len(addrs) == 0 || b.m[id] == nil && len(b.m) >= maxBook {
		return
	}
	b.m[id] = addrs
}

func (b *book) addrs(id proto.PeerID) [][]byte { return b.m[id] }

// multiaddrs parses addresses and leaves out those that are none.
func multiaddrs(addrs [][]byte) []ma.Multiaddr {
	out := make([]ma.Multiaddr, 0, len(addrs))
	for _, b := range addrs {
		if a, err := ma.NewMultiaddrBytes(b); err == nil {
			out = append(out, a)
		}
	}
	return out
}
