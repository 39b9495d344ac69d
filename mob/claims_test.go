package mob

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/mob/avail"
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
	c := s.Joined["c"]
	if c.Claim.Len() != avail.MaxTimes {
		t.Errorf("%d claims of a member that claims %d pieces, want %d", c.Claim.Len(), pieces, avail.MaxTimes)
	}
	if n := s.Own().Claims[avail.MaxTimes]; n != 0 {
		t.Errorf("a claim beyond the limit counts %d times", n)
	}
	s.hears(Received{"c", &proto.Have{Have: []proto.Range{{Count: avail.MaxTimes}}}})
	s.hears(Received{"c", &proto.Have{Claim: []proto.Range{{First: avail.MaxTimes, Count: 1}}}})
	if !c.Claim.Has(avail.MaxTimes) {
		t.Error("a member that has what it claimed may not claim again")
	}

	// Claims lapse, and new ones follow.
	for range 3 {
		s.hears(Received{"c", &proto.Have{Claim: all}})
		s.now = s.now.Add(time.Minute)
		s.lapseClaims()
	}
	if n := c.Claim.Len(); n > 0 {
		t.Errorf("%d claims beside those that lapsed", n)
	}

	s.hears(Received{"a", &proto.Have{Have: all}})
	if a := s.Joined["a"]; len(a.Deferred) > avail.MaxTimes {
		t.Errorf("%d pieces of a peer are deferred", len(a.Deferred))
	}
	if err := CheckBooks(s.State); err != nil {
		t.Error(err)
	}
}
