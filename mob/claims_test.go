package mob

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestClaimsBounded checks that the times of claims and of deferred pieces that a node keeps for a peer do not grow with
// the content, that more claims are ignored, and that an honest peer may claim again once it has what it claimed.
func TestClaimsBounded(t *testing.T) {
	const pieces = 1 << 18
	s := &witness{
		State: New(Config{Self: "b", Cluster: "B", Length: pieces * proto.Cell, PieceLength: proto.Cell, Tuning: DefaultTuning()}, nil),
		now:   time.Unix(0, 0),
	}
	s.joins("B", "c")
	s.joins("A", "a")
	all := []proto.Range{{Count: pieces}}
	s.hears(Received{"c", &proto.Have{Claim: all}})
	c := s.joined["c"]
	if c.claim.Len() != maxClaims || len(c.claimed) != maxClaims {
		t.Errorf("%d claims of a member that claims %d pieces, want %d", c.claim.Len(), pieces, maxClaims)
	}
	if n := s.own().claims[maxClaims]; n != 0 {
		t.Errorf("a claim beyond the limit counts %d times", n)
	}
	s.hears(Received{"c", &proto.Have{Have: []proto.Range{{Count: maxClaims}}}})
	s.hears(Received{"c", &proto.Have{Claim: []proto.Range{{First: maxClaims, Count: 1}}}})
	if !c.claim.Has(maxClaims) {
		t.Error("a member that has what it claimed may not claim again")
	}

	// Claims lapse, and others follow.
	for range 3 {
		s.hears(Received{"c", &proto.Have{Claim: all}})
		s.now = s.now.Add(time.Minute)
		s.lapseClaims()
	}
	if len(c.claimed) > maxClaims {
		t.Errorf("times of %d claims that lapsed", len(c.claimed))
	}

	s.hears(Received{"a", &proto.Have{Have: all}})
	if a := s.joined["a"]; len(a.deferred) > maxClaims {
		t.Errorf("%d pieces of a peer are deferred", len(a.deferred))
	}
	if err := CheckBooks(s.State); err != nil {
		t.Error(err)
	}
}
