package peer

import (
	"testing"

	"github.com/mobgrid/mob/proto"
)

// TestDemandAfterSession ends one of two sessions with a member. The other session sends the demand again, which may
// have been lost.
func TestDemandAfterSession(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	s := newSharing()
	s.share.SetLimit(limit)
	leave := s.Join("member", func(proto.Message) {})
	var sent []proto.Message
	s.Join("member", func(m proto.Message) { sent = append(sent, m) })
	sent = nil
	leave()
	if len(sent) != 1 {
		t.Fatalf("sent %v", sent)
	}
	if d, ok := sent[0].(*proto.Demand); !ok || d.Limit != limit {
		t.Errorf("sent %v", sent[0])
	}
}
