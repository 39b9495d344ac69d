package swarm

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestUnknownMemberAnnounces checks that a node that no tracker named has the trackers asked, at most
// once in announceRetry, and that the node itself is a member.
func TestUnknownMemberAnnounces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Swarm{self: "self", progress: make(chan struct{}, 1)}
		s.byTracker.Store(s.self[:2], true)
		s.byID = map[proto.PeerID]*session{"peer": {}}
		announces := func() int {
			n := len(s.progress)
			for range n {
				<-s.progress
			}
			return n
		}
		if !s.Knows("self") || !s.Knows("se") || !s.Knows("peer") || announces() != 0 {
			t.Error("a known member is unknown, or announced for")
		}
		for i, pause := range []time.Duration{0, announceRetry - 1, 1} {
			time.Sleep(pause)
			for range 100 {
				if s.Knows("unknown") {
					t.Fatal("an unknown node is a member")
				}
			}
			if n, want := announces(), 1-i%2; n != want {
				t.Errorf("after %v: %d announces, want %d", pause, n, want)
			}
		}
	})
}
