package swarm

import "github.com/mobgrid/mob/proto"

const (
	// maxAddrs bounds the addresses of one member, so that an introduction of many
	// members fits a frame.
	maxAddrs = 8
	// maxMembers bounds the members in an address book.
	maxMembers = 50_000
)

// addressBook maps members to the addresses, as binary multiaddrs, that they or others gave
// for them. It is not safe for concurrent use.
type addressBook struct{ addrs map[proto.PeerID][][]byte }

func newAddressBook() *addressBook { return &addressBook{addrs: map[proto.PeerID][][]byte{}} }

// add replaces the addresses of a member. It does nothing if addrs is empty, or if the
// member is new and the book is full.
func (b *addressBook) add(id proto.PeerID, addrs [][]byte) {
	addrs = addrs[:min(len(addrs), maxAddrs)]
	if len(addrs) == 0 || b.addrs[id] == nil && len(b.addrs) >= maxMembers {
		return
	}
	b.addrs[id] = addrs
}

// of returns the addresses of a member, nil if none are known.
func (b *addressBook) of(id proto.PeerID) [][]byte { return b.addrs[id] }
