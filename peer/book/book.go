// Package book remembers the addresses at which the members of a swarm accept
// connections.
package book

import "github.com/mobgrid/mob/proto"

const (
	// MaxAddrs bounds the addresses of one member, so that an introduction of many
	// members fits a frame.
	MaxAddrs = 8
	// maxMembers bounds the members in a book.
	maxMembers = 50_000
)

// Book maps members to the addresses that they or others gave for them. It is not
// safe for concurrent use.
type Book struct{ addrs map[proto.PeerID][][]byte }

// New returns an empty book.
func New() *Book { return &Book{addrs: map[proto.PeerID][][]byte{}} }

// Add replaces the addresses of a member. It does nothing if addrs is empty, or if
// the member is new and the book is full.
func (b *Book) Add(id proto.PeerID, addrs [][]byte) {
	addrs = addrs[:min(len(addrs), MaxAddrs)]
	if len(addrs) == 0 || b.addrs[id] == nil && len(b.addrs) >= maxMembers {
		return
	}
	b.addrs[id] = addrs
}

// Addrs returns the addresses of a member as binary multiaddrs, nil if none are known.
func (b *Book) Addrs(id proto.PeerID) [][]byte { return b.addrs[id] }
