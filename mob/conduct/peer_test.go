package conduct

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/proto"
)

var rules = Rules{Stall: 3 * time.Second, Dead: 15 * time.Second, Strikes: 3}

// TestStallsTakeLongerToProve checks that a peer sends one block after its first stall, and twice as many after each
// further one, also in another session.
func TestStallsTakeLongerToProve(t *testing.T) {
	now := time.Unix(1, 0)
	r := new(Record)
	p := NewPeer(&rules, r, true, now)
	for _, blocks := range []int{1, 2, 4} {
		p.Stall(now)
		if p.Holds() || !p.Paused(now, 0) || p.Paused(now.Add(rules.Stall), 0) {
			t.Error("a stalled peer holds pieces, or its pause is wrong")
		}
		for n := 1; !p.Delivered(now); n++ {
			if n > blocks {
				t.Fatalf("not proven after %d blocks, want %d", n, blocks)
			}
		}
		p.Stalled = false
	}
	p = NewPeer(&rules, r, true, now)
	if !p.HasStalled() {
		t.Error("a new session clears the record")
	}
}

// TestVerdict checks what silence calls for.
func TestVerdict(t *testing.T) {
	now := time.Unix(1, 0)
	for _, c := range []struct {
		near, fetches bool
		owed          float64
		silence       time.Duration
		want          Verdict
	}{
		{true, true, 0, 6 * time.Second, Fine},
		{true, true, 0, 7 * time.Second, FellSilent},
		{true, false, 0, 7 * time.Second, Fine},
		{false, true, 0, 7 * time.Second, Fine},
		{false, true, -1, 4 * time.Second, Stalled},
		{true, true, -1, 2500 * time.Millisecond, Stalled},
		{false, true, 2, 7 * time.Second, Fine},
		{false, true, 2, 9 * time.Second, Stalled},
		{false, false, 0, 16 * time.Second, Dead},
	} {
		p := NewPeer(&rules, new(Record), c.near, now)
		p.Requested(now)
		if got := p.Verdict(now.Add(c.silence), 0, c.fetches, c.owed); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// TestStrikes checks the faults that ban a node, and that good pieces make up for some.
func TestStrikes(t *testing.T) {
	now := time.Unix(1, 0)
	r := new(Record)
	for i := range 3 {
		r.AddBad(i, false)
		r.Reported(now, i)
	}
	if r.StruckOut(&rules) || !r.Answered(0) || r.Answered(0) {
		t.Error("bad pieces that are reported strike a node out")
	}
	r.StrikeUnanswered(now.Add(time.Minute), rules.Dead)
	r.AddBad(0, false) // again
	if !r.StruckOut(&rules) {
		t.Error("two reports without an answer and a piece that was bad twice are not three strikes")
	}
	for range 2 * goodPerStrike {
		r.AddGood()
	}
	if r.StruckOut(&rules) || r.MostlyBad(&rules) {
		t.Error("good pieces do not count")
	}
}

// TestHavesAskedForAreFree checks that haves that the node asked for do not use up a peer's budget.
func TestHavesAskedForAreFree(t *testing.T) {
	const pieces = 1000
	all := []proto.Range{{Count: pieces}}
	for _, asked := range []bool{true, false} {
		now := time.Unix(1, 0)
		p := NewPeer(&rules, new(Record), true, now)
		ok := true
		for range 200 {
			if asked {
				p.Owe(all, pieces)
			}
			ok = ok && p.Affords(now, &proto.Have{Have: all}, pieces, 0)
		}
		if ok != asked {
			t.Errorf("asked %v: affords %v", asked, ok)
		}
	}
}
