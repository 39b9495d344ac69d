package mob

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestOverridden checks that a node leaves the WAN to its cluster when several members start pieces
// that it claimed, and not when one does.
func TestOverridden(t *testing.T) {
	s := newWitness("b", "B")
	s.hears(Learned{Nodes: []Node{{ID: "a", Cluster: "A"}, {ID: "c", Cluster: "B"}, {ID: "d", Cluster: "B"}}})
	s.joins("B", "c", "d")
	s.joins("A", "a")
	for _, id := range []proto.PeerID{"c", "d"} {
		s.hears(Received{id, &proto.Want{Pieces: []proto.Range{{Count: 64}}}})
	}
	s.hears(Received{"a", &proto.Have{Have: []proto.Range{{Count: 64}}}})
	s.now = s.now.Add(time.Second)
	begins := func(id proto.PeerID) {
		t.Helper()
		for i, f := range s.Fetches {
			if f.Claimed && f.Peer != nil {
				s.hears(Received{id, &proto.Have{Claim: []proto.Range{{First: uint32(i), Count: 1}}}})
				return
			}
		}
		t.Fatal("the node claims nothing")
	}
	begins("c")
	begins("c")
	if s.IsOverridden() {
		t.Error("one member counts for all")
	}
	begins("d")
	if !s.IsOverridden() {
		t.Error("two members do not count")
	}
	s.hears(Left{Peer: "d"})
	if !s.IsOverridden() {
		t.Error("the only other member does not count")
	}
	s.now = s.now.Add(time.Minute)
	s.hears(Tick{})
	if s.IsOverridden() {
		t.Error("it never ends")
	}
}

// TestNotOverriddenByOtherRacks checks that claims of members of another rack, which may have crossed the node's, do
// not keep the node from the WAN.
func TestNotOverriddenByOtherRacks(t *testing.T) {
	s := newWitness("b", "B/r1")
	s.joins("B/r2", "c", "d")
	s.joins("A", "a")
	every := []proto.Range{{Count: 64}}
	for _, id := range []proto.PeerID{"c", "d"} {
		s.hears(Received{id, &proto.Have{}})
		s.hears(Received{id, &proto.Want{Pieces: every}})
	}
	s.hears(Received{"a", &proto.Have{Have: every}})
	s.now = s.now.Add(time.Second)
	s.hears(Tick{})
	if len(s.Fetches) == 0 {
		t.Fatal("the node claims nothing")
	}
	s.now = s.now.Add(time.Second)
	for _, id := range []proto.PeerID{"c", "d"} {
		s.hears(Received{id, &proto.Have{Claim: every}})
	}
	if s.IsOverridden() {
		t.Error("members of another rack keep the node from the WAN")
	}
}
