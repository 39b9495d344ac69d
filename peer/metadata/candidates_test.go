package metadata

import (
	"slices"
	"strings"
	"testing"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/proto"
)

// TestCandidates wants a member of the own cluster first that has a lesser id, then the
// link's peer, and everybody once.
func TestCandidates(t *testing.T) {
	source := newHost(t)
	at, err := libpeer.AddrInfoToP2pAddrs(&libpeer.AddrInfo{ID: source.ID(), Addrs: source.Addrs()})
	if err != nil {
		t.Fatal(err)
	}
	s := seeker(t, &proto.Link{Manifest: proto.ManifestCID(nil), Peers: at})
	id := func(name string) libpeer.ID { return libpeer.ID("\x00\x01" + name) } // a multihash
	s.Self = id("m")
	var members []proto.Member
	for _, name := range strings.Split("abxyzm", "") {
		members = append(members, proto.Member{ID: proto.PeerID(id(name)), Cluster: "A"})
	}
	members = append(members, proto.Member{ID: proto.PeerID(id("f")), Cluster: "B"})
	orders := map[string]bool{}
	for range 100 {
		var got []string
		for _, info := range s.candidates(members) {
			name := "s"
			if info.ID != source.ID() {
				name = string(info.ID[2:])
			}
			got = append(got, name)
		}
		order := strings.Join(got, "")
		orders[order] = true
		if !strings.ContainsAny(order[:1], "ab") || order[1] != 's' || !strings.ContainsAny(order[2:3], "ab") || order[6:] != "f" {
			t.Fatalf("asked in the order %s", order)
		}
		if slices.Sort(got); strings.Join(got, "") != "abfsxyz" {
			t.Fatalf("asked are %v", got)
		}
	}
	if len(orders) < 2 {
		t.Error("members are asked in one order")
	}
}
