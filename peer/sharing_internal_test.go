package peer

import (
	"testing"

	"github.com/mobgrid/mob/proto"
)

// TestDemandAfterSession ends one of two sessions with a member: the other says again what may have been
// lost with it.
func TestDemandAfterSession(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	s := newSharing()
	s.share.SetLimit(limit)
	leave := s.Join("member", func(proto.Message) {})
	var told []proto.Message
	s.Join("member", func(m proto.Message) { told = append(told, m) })
	told = nil
	leave()
	if len(told) != 1 {
		t.Fatalf("told %v", told)
	}
	if d, ok := told[0].(*proto.Demand); !ok || d.Limit != limit {
		t.Errorf("told %v", told[0])
	}
}
