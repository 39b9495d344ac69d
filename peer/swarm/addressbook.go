package swarm

import (
	linked "container/list"
	"net/netip"

	"github.com/mobgrid/mob/mob/quota"
	"github.com/mobgrid/mob/proto"
)

const (
	// maxAddrs bounds the addresses of one member, so that an introduction of many
	// members fits a frame.
	maxAddrs = 8
	// maxMembers bounds the members in an address book, and maxUnverified the members that
	// only a peer named. Each source may name as many as are free.
	maxMembers    = 50_000
	maxUnverified = 4096
)

// addressBook maps members to their addresses, as binary multiaddrs. They are
// unverified unless they come from the member itself or a tracker. It is not safe for concurrent use.
type addressBook struct {
	members    map[proto.PeerID]*bookEntry
	order      *linked.List               // of verified *bookEntry, least recently used first
	sources    *quota.Quota[netip.Addr]   // of these members, by the address that they came from
	unverified *quota.Quota[proto.PeerID] // unverified members, by the peer that named them

	joined  func(proto.PeerID) bool // reports whether a member has a session: it is not dropped then
	dropped func(proto.PeerID)      // is called for a member that is dropped for another
}

type bookEntry struct {
	id      proto.PeerID
	addrs   [][]byte
	source  netip.Addr      // zero for trackers
	elem    *linked.Element // in order
	namedBy proto.PeerID    // the peer that named an unverified member, else empty
}

func newAddressBook() *addressBook {
	return &addressBook{
		members:    map[proto.PeerID]*bookEntry{},
		order:      linked.New(),
		sources:    quota.New[netip.Addr](maxMembers),
		unverified: quota.New[proto.PeerID](maxUnverified),
		joined:     func(proto.PeerID) bool { return false },
		dropped:    func(proto.PeerID) {},
	}
}

// add replaces the addresses of a member with verified ones. If there are none, it keeps the known
// ones. A new member replaces another one if the book, or its source's share of it, is full.
func (b *addressBook) add(source netip.Addr, id proto.PeerID, addrs [][]byte) {
	e := b.members[id]
	if e == nil {
		e = &bookEntry{id: id}
	}
	if len(addrs) > 0 {
		e.addrs = addrs[:min(len(addrs), maxAddrs)]
	}
	switch {
	case e.elem != nil:
		b.order.MoveToBack(e.elem)
		return
	case len(e.addrs) == 0 || !b.take(source):
		return
	case e.namedBy != "":
		b.unverified.Release(e.namedBy)
	}
	e.source, e.namedBy = source, ""
	e.elem = b.order.PushBack(e)
	b.members[id] = e
}

// take allocates a slot for a member from a source. If there is none it drops the least recently used
// member without a session: one from this source, or from any if the book is full.
func (b *addressBook) take(source netip.Addr) bool {
	if b.sources.Take(source) {
		return true
	}
	full := b.sources.Used() == maxMembers
	for at := b.order.Front(); at != nil; at = at.Next() {
		e := at.Value.(*bookEntry)
		if !full && e.source != source || b.joined(e.id) {
			continue
		}
		b.order.Remove(at)
		delete(b.members, e.id)
		b.sources.Release(e.source)
		b.sources.Grant(source)
		b.dropped(e.id)
		return true
	}
	return false
}

// addUnverified adds the addresses of a member that a peer named, and reports whether they are new.
// Known addresses are not replaced.
func (b *addressBook) addUnverified(namedBy, id proto.PeerID, addrs [][]byte) bool {
	if _, known := b.members[id]; known || len(addrs) == 0 || !b.unverified.Take(namedBy) {
		return false
	}
	b.members[id] = &bookEntry{id: id, addrs: addrs[:min(len(addrs), maxAddrs)], namedBy: namedBy}
	return true
}

func (b *addressBook) forget(id proto.PeerID) {
	if e := b.members[id]; e != nil && e.namedBy != "" {
		b.unverified.Release(e.namedBy)
		delete(b.members, id)
	}
}

// of returns the addresses of a member, nil if none are known.
func (b *addressBook) of(id proto.PeerID) [][]byte {
	e := b.members[id]
	if e == nil {
		return nil
	}
	if e.elem != nil {
		b.order.MoveToBack(e.elem)
	}
	return e.addrs
}
