package mob

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

// TestBusyMembersClaimLate has members whose claims take long: a piece that takes a quarter of a
// second is quick among them, and others' pieces are begun after their claims would have come.
func TestBusyMembersClaimLate(t *testing.T) {
	s, a, now := fetching(time.Second / 4)
	for _, c := range []struct {
		answer time.Duration
		quick  bool
		delay  time.Duration
	}{
		{time.Millisecond, false, s.t.Turn}, {300 * time.Millisecond, true, 150 * time.Millisecond},
		{5 * time.Second, true, 2500 * time.Millisecond}, {time.Millisecond, false, s.t.Turn},
	} {
		for range 100 {
			s.sendPing(s.joined["n"])
			nonce := pingNonce(s.started, now)
			s.Step(now.Add(c.answer), Received{"n", &proto.Pong{Nonce: nonce}})
			s.now = now
		}
		if got := s.isQuick(a); got != c.quick {
			t.Errorf("members answer in %v: quick is %v", c.answer, got)
		}
		if got := s.claimDelay(s.site()); got < c.delay-time.Millisecond || got > c.delay+time.Millisecond {
			t.Errorf("members answer in %v: claims take %v, want %v", c.answer, got, c.delay)
		}
	}
}
