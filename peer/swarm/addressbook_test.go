package swarm

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/mobgrid/mob/proto"
)

func binaryAddrs(texts ...string) (out [][]byte) {
	for _, text := range texts {
		out = append(out, ma.StringCast(text).Bytes())
	}
	return out
}

// TestUnverifiedAddressesAreBounded adds 50,000 members from one peer. The book has room for members from
// other peers and trackers, and verified addresses are not replaced.
func TestUnverifiedAddressesAreBounded(t *testing.T) {
	var tracker netip.Addr
	b := newAddressBook()
	own, lie := binaryAddrs("/ip4/192.0.2.1/tcp/1"), binaryAddrs("/ip4/192.0.2.66/tcp/1")
	b.add(tracker, "member", own)
	b.addUnverified("liar", "member", lie)
	if !slices.EqualFunc(b.of("member"), own, slices.Equal) {
		t.Errorf("unverified addresses replace the verified ones of a member by %x", b.of("member"))
	}
	heard := 0
	for i := range 50_000 {
		if b.addUnverified("liar", proto.PeerID(fmt.Sprint("invented", i)), lie) {
			heard++
		}
	}
	if heard != maxUnverified/2 {
		t.Errorf("one peer fills %d places of %d", heard, maxUnverified)
	}
	for i := range 500 {
		if !b.addUnverified("honest", proto.PeerID(fmt.Sprint("other", i)), own) {
			t.Fatalf("no room for member %d of another peer", i)
		}
		id := proto.PeerID(fmt.Sprint("tracked", i))
		if b.add(tracker, id, own); b.of(id) == nil {
			t.Fatalf("no room for member %d of a tracker", i)
		}
	}
	// A member leaves the unverified ones by a verified address, or by a failed dial.
	used := b.unverified.Used()
	b.add(tracker, "invented1", own)
	b.forget("invented2")
	b.forget("member")
	if n := used - b.unverified.Used(); n != 2 || b.of("invented2") != nil || b.of("member") == nil {
		t.Errorf("%d members left the unverified ones, want 2", n)
	}
	b.add(tracker, "other1", nil)
	if b.forget("other1"); !slices.EqualFunc(b.of("other1"), own, slices.Equal) {
		t.Error("a member that joined without addresses is forgotten")
	}
}

// TestFullAddressBook checks that one address fills half of a book, that its newer members take the places of its least
// recently used ones, and never of members with a session, from another address, or in use.
func TestFullAddressBook(t *testing.T) {
	b := newAddressBook()
	b.joined = func(id proto.PeerID) bool { return id == "joined" }
	var dropped []proto.PeerID
	b.dropped = func(id proto.PeerID) { dropped = append(dropped, id) }
	own := binaryAddrs("/ip4/192.0.2.1/tcp/1")
	honest, flooder := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.66")
	b.add(honest, "honest", own)
	b.add(flooder, "joined", own)
	b.add(flooder, "used", own)
	for i := range 2 * maxMembers {
		b.add(flooder, proto.PeerID(fmt.Sprint("flood", i)), own)
		if len(b.of("used")) == 0 {
			t.Fatalf("a member in use is dropped for number %d", i)
		}
	}
	if n := len(b.members); n > maxMembers/2+1 || b.order.Len() != n || b.sources.Used() != n || n+len(dropped) != 2*maxMembers+3 {
		t.Errorf("%d members, %d in order, %d counted, %d dropped", n, b.order.Len(), b.sources.Used(), len(dropped))
	}
	for _, id := range []proto.PeerID{"honest", "joined", proto.PeerID(fmt.Sprint("flood", 2*maxMembers-1))} {
		if b.of(id) == nil {
			t.Errorf("%s is dropped", id)
		}
	}

	// Full, with one member of each address.
	for i := 0; b.sources.Used() < maxMembers; i++ {
		b.add(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), proto.PeerID(fmt.Sprint("far", i)), own)
	}
	if b.add(netip.MustParseAddr("198.51.100.1"), "new", own); b.of("new") == nil || b.sources.Used() != maxMembers {
		t.Error("a full book takes no new member")
	}
}
