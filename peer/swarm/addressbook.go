package swarm

import (
	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/proto"
)

const (
	// maxAddrs bounds the addresses of one member, so that an introduction of many
	// members fits a frame.
	maxAddrs = 8
	// maxMembers bounds the members in an address book, and maxHearsay those of which
	// only a peer told. Each peer may tell of as many as are free.
	maxMembers = 50_000
	maxHearsay = 4096
)

// addressBook maps members to their addresses, as binary multiaddrs. They come from the member
// itself or a tracker, or are hearsay. It is not safe for concurrent use.
type addressBook struct {
	members map[proto.PeerID]bookEntry
	hearsay *quota.Quota[proto.PeerID] // members, by who told of them
}

type bookEntry struct {
	addrs  [][]byte
	teller proto.PeerID // empty unless the addresses are hearsay
}

func newAddressBook() *addressBook {
	return &addressBook{members: map[proto.PeerID]bookEntry{}, hearsay: quota.New[proto.PeerID](maxHearsay)}
}

// add replaces the addresses of a member by those that it, or a tracker, gave. Without any it
// keeps the ones that are there. It does nothing if the member is new and the book is full.
func (b *addressBook) add(id proto.PeerID, addrs [][]byte) {
	old, known := b.members[id]
	if len(addrs) == 0 {
		addrs = old.addrs
	}
	if len(addrs) == 0 || !known && len(b.members) >= maxMembers {
		return
	}
	if old.teller != "" {
		b.hearsay.Release(old.teller)
	}
	b.members[id] = bookEntry{addrs: addrs[:min(len(addrs), maxAddrs)]}
}

// hear adds the addresses of a member of which a peer told, and reports whether that is news. What
// is known already is not replaced.
func (b *addressBook) hear(teller, id proto.PeerID, addrs [][]byte) bool {
	if _, known := b.members[id]; known || len(addrs) == 0 || !b.hearsay.Take(teller) {
		return false
	}
	b.members[id] = bookEntry{addrs: addrs[:min(len(addrs), maxAddrs)], teller: teller}
	return true
}

// forget drops what is known of a member by hearsay alone, because it could not be reached.
func (b *addressBook) forget(id proto.PeerID) {
	if e := b.members[id]; e.teller != "" {
		b.hearsay.Release(e.teller)
		delete(b.members, id)
	}
}

// of returns the addresses of a member, nil if none are known.
func (b *addressBook) of(id proto.PeerID) [][]byte { return b.members[id].addrs }
