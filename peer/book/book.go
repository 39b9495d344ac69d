// Package book is the addresses at which the members of a swarm accept connections.
package book

import (
	libpeer "github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/proto"
)

// maxMembers bounds the members whose addresses a swarm remembers.
const maxMembers = 50_000

// Book holds the addresses at which members said, or others said, that they
// accept connections. It is not safe for concurrent use: a swarm's loop owns it.
type Book struct{ m map[proto.PeerID][][]byte }

// New is a book without members.
func New() *Book { return &Book{m: map[proto.PeerID][][]byte{}} }

// MaxAddrs bounds the addresses of one member, so that an introduction of
// many fits a frame.
const MaxAddrs = 8

// Add replaces what is known of a member, unless nothing is said now.
func (b *Book) Add(id proto.PeerID, addrs [][]byte) {
	addrs = addrs[:min(len(addrs), MaxAddrs)]
	if len(addrs) == 0 || b.m[id] == nil && len(b.m) >= maxMembers {
		return
	}
	b.m[id] = addrs
}

// Addrs is what is known of a member, nil if nothing is.
func (b *Book) Addrs(id proto.PeerID) [][]byte { return b.m[id] }

// Multiaddrs parses addresses and leaves out those that are none.
func Multiaddrs(addrs [][]byte) []ma.Multiaddr {
	out := make([]ma.Multiaddr, 0, len(addrs))
	for _, b := range addrs {
		if a, err := ma.NewMultiaddrBytes(b); err == nil {
			out = append(out, a)
		}
	}
	return out
}

// Infos groups addresses that end in a peer's id by peer, without those of self and
// what is no such address.
func Infos(addrs []ma.Multiaddr, self libpeer.ID) []libpeer.AddrInfo {
	var out []libpeer.AddrInfo
	at := map[libpeer.ID]int{}
	for _, a := range addrs {
		info, err := libpeer.AddrInfoFromP2pAddr(a)
		if err != nil || info.ID == self {
			continue
		}
		if i, ok := at[info.ID]; ok {
			out[i].Addrs = append(out[i].Addrs, info.Addrs...)
			continue
		}
		at[info.ID] = len(out)
		out = append(out, *info)
	}
	return out
}
