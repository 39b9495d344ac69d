package swarm

import (
	"fmt"
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

// A peer tells of 50,000 members. The book has room for those of other peers and of trackers, and
// what the members say of themselves is not replaced.
func TestHearsayDisplacesNobody(t *testing.T) {
	b := newAddressBook()
	own, lie := binaryAddrs("/ip4/192.0.2.1/tcp/1"), binaryAddrs("/ip4/192.0.2.66/tcp/1")
	b.add("member", own)
	b.hear("liar", "member", lie)
	if !slices.EqualFunc(b.of("member"), own, slices.Equal) {
		t.Errorf("hearsay replaces the addresses of a member by %x", b.of("member"))
	}
	heard := 0
	for i := range 50_000 {
		if b.hear("liar", proto.PeerID(fmt.Sprint("invented", i)), lie) {
			heard++
		}
	}
	if heard != maxHearsay/2 {
		t.Errorf("one peer fills %d places of %d", heard, maxHearsay)
	}
	for i := range 500 {
		if !b.hear("honest", proto.PeerID(fmt.Sprint("other", i)), own) {
			t.Fatalf("no room for member %d of another peer", i)
		}
		id := proto.PeerID(fmt.Sprint("tracked", i))
		if b.add(id, own); b.of(id) == nil {
			t.Fatalf("no room for member %d of a tracker", i)
		}
	}
	// A trial ends a rumour either way.
	used := b.hearsay.Used()
	b.add("invented1", own)
	b.forget("invented2")
	b.forget("member")
	if n := used - b.hearsay.Used(); n != 2 || b.of("invented2") != nil || b.of("member") == nil {
		t.Errorf("%d rumours are settled, want 2", n)
	}
	b.add("other1", nil)
	if b.forget("other1"); !slices.EqualFunc(b.of("other1"), own, slices.Equal) {
		t.Error("a member that joined without addresses is forgotten")
	}
}
