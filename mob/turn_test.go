package mob

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/flow"
	"github.com/mobgrid/mob/mob/session"
	"github.com/mobgrid/mob/proto"
)

// TestBusyMembersClaimLate checks that the expected time of claims follows the answers of members.
func TestBusyMembersClaimLate(t *testing.T) {
	s, _, now := fetching(time.Second / 4)
	for _, c := range []struct {
		answer, delay time.Duration
	}{
		{time.Millisecond, s.Tuning.Turn}, {300 * time.Millisecond, 150 * time.Millisecond},
		{5 * time.Second, 2500 * time.Millisecond}, {time.Millisecond, s.Tuning.Turn},
	} {
		for range 100 {
			s.sendPing(s.Joined["n"])
			nonce := flow.PingNonce(s.started, now)
			s.Step(now.Add(c.answer), Received{"n", &proto.Pong{Nonce: nonce}})
			s.Now = now
		}
		if got := s.Site().ClaimDelay(); got < c.delay-time.Millisecond || got > c.delay+time.Millisecond {
			t.Errorf("members answer in %v: claims take %v, want %v", c.answer, got, c.delay)
		}
	}
}

// TestCrossingClaims checks that a piece of 20 ms waits for other members' claims only if their
// answers take about as long, or none has come. Otherwise the link would be idle.
func TestCrossingClaims(t *testing.T) {
	s, a, now := fetching(20 * time.Millisecond)
	l := a.Level
	l.Share = assign.Share{}
	if !s.Crosses(a, 0) {
		t.Error("a piece does not wait before any member has answered")
	}
	for _, answer := range []time.Duration{200 * time.Microsecond, 50 * time.Millisecond, time.Millisecond} {
		for range 100 {
			s.sendPing(s.Joined["n"])
			nonce := flow.PingNonce(s.started, now)
			s.Step(now.Add(answer), Received{"n", &proto.Pong{Nonce: nonce}})
			s.Now = now
		}
		if got, want := s.Crosses(a, 0), answer > 10*time.Millisecond; got != want {
			t.Errorf("members answer in %v: a piece waits is %v", answer, got)
		}
		l.Share = assign.Share{First: 0, End: 100, Every: 100, Count: 100}
		if s.Crosses(a, 0) {
			t.Error("a piece of the node's share waits")
		}
		l.Share = assign.Share{}
	}
}

// TestClaimedAhead checks that a piece that waits for other members' claims is requested of its peer,
// although another peer has room too, and of that one only after the time of a queue.
func TestClaimedAhead(t *testing.T) {
	for _, c := range []struct {
		name    string
		after   time.Duration               // the wait
		change  func(*State, *session.Peer) // of the peer meanwhile
		another bool                        // may have it requested of it
	}{
		{"immediately", 0, nil, false},
		{"while the peer may have a queue", DefaultTuning().Queue - 1, nil, false},
		{"after that", DefaultTuning().Queue, nil, true},
		{"the peer has left", 0, func(s *State, p *session.Peer) { s.onLeft(p.ID, false) }, true},
		{"the peer has dropped it", 0, func(s *State, p *session.Peer) { s.removeHave(p, 0) }, true},
		{"the peer is rationed", 0, func(_ *State, p *session.Peer) { p.Rationed = true }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, a, now := fetching(20 * time.Millisecond)
			s.Step(now, Joined{Node: Node{ID: "c", Cluster: "C"}})
			claimed := s.Joined["c"]
			claimed.Pipe.Start(now.Add(-20 * time.Millisecond))
			claimed.Pipe.Meter.Add(now, s.Layout.Size)
			a.Level.Share = assign.Share{}
			for _, p := range []*session.Peer{a, claimed} {
				p.Have.Add(0)
				p.Matched = true
			}
			f := s.Start(0, false)
			s.assign(claimed, f)
			if f.Peer != nil || s.next(claimed) == f {
				t.Fatal("the piece did not wait")
			}
			if c.change != nil {
				c.change(s, claimed)
			}
			s.Now = f.NotBefore.Add(c.after)
			for _, f := range s.EndTurns() {
				s.unassign(f)
			}
			if got := s.next(a) == f; got != c.another {
				t.Errorf("another peer is next: %v", got)
			}
			if got := s.next(claimed) == f; got == c.another {
				t.Errorf("the peer is next: %v", got)
			}
			if len(s.Waiting) != 0 {
				t.Errorf("%d pieces are claimed ahead", len(s.Waiting))
			}
		})
	}
}

// TestClaimedAheadOfTwoPeers claims a piece for a second peer while it waits for the first one: another member claims it,
// and leaves. Further pieces may be claimed for both afterwards.
func TestClaimedAheadOfTwoPeers(t *testing.T) {
	s, a, now := fetching(20 * time.Millisecond)
	s.Step(now, Joined{Node: Node{ID: "c", Cluster: "C"}})
	c := s.Joined["c"]
	c.Pipe.Start(now.Add(-20 * time.Millisecond))
	c.Pipe.Meter.Add(now, s.Layout.Size)
	a.Level.Share = assign.Share{}
	f := s.Start(0, false)
	s.assign(c, f)
	s.Step(now, Joined{Node: Node{ID: "b", Cluster: "B"}})
	s.Step(now, Received{"b", &proto.Have{Claim: []proto.Range{{Count: 1}}}})
	s.Step(now, Left{"b"})
	a.Have.Add(0)
	a.Matched, a.Level.Share = true, assign.Share{}
	if s.next(a) != f || len(s.Waiting) != 2 {
		t.Fatal("the piece does not wait for both peers")
	}
	s.Now = f.NotBefore.Add(s.Tuning.Queue)
	s.EndTurns()
	if !s.MayClaimAhead(a) || !s.MayClaimAhead(c) {
		t.Error("no further piece may be claimed")
	}
}

// TestSlowMemberDoesNotDelayClaims checks that a member which is slow to answer does not change how long its
// cluster waits for claims.
func TestSlowMemberDoesNotDelayClaims(t *testing.T) {
	s := newWitness("a", "A")
	s.joins("A", "b", "c", "d")
	for id, mean := range map[proto.PeerID]time.Duration{"b": time.Millisecond, "c": time.Millisecond, "d": 5 * time.Second} {
		s.Joined[id].Pings.Add(mean)
	}
	s.MeasureAnswers(s.Site())
	if got := s.Site().ClaimDelay(); got != s.Tuning.Turn {
		t.Errorf("members wait %v for a claim, want %v", got, s.Tuning.Turn)
	}
}
