package avail

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/roster"
	"github.com/mobgrid/mob/mob/timer"
	"github.com/mobgrid/mob/proto"
)

// TestClaimTimesBounded checks that a peer which claims every piece cannot have more than MaxTimes claims, also when
// they lapse, and that it can claim again once it has pieces.
func TestClaimTimesBounded(t *testing.T) {
	const pieces = 3 * MaxTimes
	now := time.Unix(1, 0)
	o := NewOffers(pieces)
	claimAll := func() (n int) {
		for i := range pieces {
			if o.AddClaim(i) {
				o.SetClaimed(i, now)
				n++
			}
		}
		return n
	}
	if n := claimAll(); n != MaxTimes {
		t.Errorf("%d claims, want %d", n, MaxTimes)
	}
	lapsed := 0
	o.Lapse(now.Add(time.Minute), time.Second, func(int) { lapsed++ })
	if n := claimAll(); lapsed != MaxTimes || n != 0 || !o.HasLapsed() {
		t.Errorf("%d claims lapse, %d follow", lapsed, n)
	}
	for i := range 10 {
		o.RemoveClaim(i)
	}
	if n := claimAll(); n != 10 {
		t.Errorf("%d claims follow after 10 were removed", n)
	}
}

// TestRarityCountsSiblings checks that a sibling counts once for a piece, and as complete while it has all pieces.
func TestRarityCountsSiblings(t *testing.T) {
	c, s := NewCounts(2, nil), NewSibling("B", 2)
	if !c.AddRemote(&s, 0) || c.AddRemote(&s, 0) || !c.AddRemote(&s, 1) || c.Rarity[0] != 1 || c.Complete != 1 {
		t.Errorf("%+v", c)
	}
	if !c.RemoveRemote(&s, 0) || c.RemoveRemote(&s, 0) || c.Rarity[0] != 0 || c.Complete != 0 {
		t.Errorf("%+v", c)
	}
}

// TestBatches checks that updates wait for a batch, urgent ones less, and at the end all less, that drops come first, and that pieces that a member
// has got meanwhile are left out.
func TestBatches(t *testing.T) {
	now := time.Unix(100, 0)
	share := func(int, int) assign.Share { return assign.Share{} }
	site := roster.New(roster.Member{Cluster: "A"}, new(roster.Settings), nil, nil, nil, nil, 0, share).Groups[0]
	b := NewBatches(&Batching{Batch: 40 * time.Millisecond, LazyBatch: 16 * time.Millisecond}, site, new(timer.Table))
	offers := NewOffers(8)
	home := NewCounts(8, nil)
	o := NewOutbox("p", &offers, &home, 8)
	var sent []*proto.Have
	flush := func() int {
		sent = nil
		b.Flush(now, func(_ proto.PeerID, m *proto.Have) { sent = append(sent, m) })
		return len(sent)
	}
	b.Stored(now.Add(-time.Second), 10, 7)
	b.Stored(now, 10, 6)
	b.Add(&o, 1, Have, true, now)
	if flush() != 1 {
		t.Fatal("the first batch waits")
	}
	b.Add(&o, 2, Have, false, now)
	if now = now.Add(159 * time.Millisecond); flush() != 0 {
		t.Error("a lazy update is sent early")
	}
	b.Add(&o, 3, Claim, true, now)
	offers.Have.Add(2)
	if flush() != 1 || len(sent[0].Have) != 0 || len(sent[0].Claim) != 1 {
		t.Errorf("sent %+v", sent)
	}
	b.Add(&o, 4, Have, true, now)
	if full := b.Add(&o, 5, Drop, true, now); len(full) != 1 || len(full[0].Have) != 1 {
		t.Errorf("before a drop: %+v", full)
	}
	if b.Add(&o, 2, Have, true, now) != nil || flush() != 0 {
		t.Error("a batch is sent too early")
	}
	now = now.Add(40 * time.Millisecond)
	flush()
	b.Stored(now, 10, 0)
	b.Add(&o, 6, Have, false, now)
	if now = now.Add(40 * time.Millisecond); flush() != 1 {
		t.Error("a lazy update is late at the end")
	}
}
