package exchange

import (
	"testing"

	"github.com/mobgrid/mob/proto"
)

// TestOutcastsAreToldByConsent: who has not said that it takes the message, as programs of
// before, does not get it; and in a swarm of one cluster nobody asks for it.
func TestOutcastsAreToldByConsent(t *testing.T) {
	plain := Form{}
	coding := proto.Coding{K: 16, Strategy: proto.Overlap2}
	gossip := Form{Coding: coding, Gossip: &Gossip{}}
	m := &proto.Outcast{Peer: "p"}
	for _, tt := range []struct {
		name     string
		features uint64
		want     bool
	}{
		{"plain", plain.Features(), true},
		{"coded", (&Form{Coding: proto.Coding{K: 16}}).Features(), true},
		{"by permutations", gossip.Features(), false},
		{"before", proto.FeatureCoded, false},
		{"guest", 0, false},
	} {
		if got := plain.Dialect(tt.features).Say(m) != nil; got != tt.want {
			t.Errorf("%s: told %v, want %v", tt.name, got, tt.want)
		}
		if plain.Dialect(tt.features).Say(&proto.Ping{}) == nil {
			t.Errorf("%s: a ping is not told", tt.name)
		}
	}
	if f := gossip.Features(); f != coding.Features() {
		t.Errorf("features %x, want %x", f, coding.Features())
	}
}
