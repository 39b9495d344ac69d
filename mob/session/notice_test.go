package session

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/conduct"
	"github.com/mobgrid/mob/mob/flow"
	"github.com/mobgrid/mob/mob/roster"
	"github.com/mobgrid/mob/proto"
)

// newTable returns the table of a node in rack r1 of a site, and a peer in each of some clusters.
func newTable(clusters ...string) (t *Table, peers []*Peer) {
	tuning := &Tuning{
		Limits:   flow.Limits{Queue: 200 * time.Millisecond, MinBlock: 16 << 10},
		Batching: avail.Batching{Batch: 40 * time.Millisecond},
	}
	layout := Layout{Count: 4, Size: 256 << 10, Length: 1 << 20, Current: 4}
	table := NewTable(tuning, layout, assign.Follow(nil, ""), 1, nil)
	t = &table
	r := roster.New(roster.Member{ID: "self", Cluster: "A/r1"}, &tuning.Settings, &tuning.Rules, t.Work, t.Rand, &t.Due,
		layout.Length, layout.Share)
	for _, g := range r.Groups {
		t.AddLevel(g, func(int) bool { return false })
	}
	for _, c := range clusters {
		m := roster.Member{ID: proto.PeerID(c), Cluster: c}
		p := t.NewPeer(m, &roster.Node{Member: m, Record: new(conduct.Record)})
		t.Add(p)
		peers = append(peers, p)
	}
	return t, peers
}

// TestNotices checks which peers are sent a piece that is stored, and a claim, and which of them immediately.
func TestNotices(t *testing.T) {
	t.Parallel()
	table, peers := newTable("A/r1", "A/r2", "B")
	local, rack, remote := peers[0], peers[1], peers[2]
	for i := range table.Layout.Count { // the remote peer fetches from the node
		remote.Box.Subscribed.Add(i)
	}
	now := Notice{Needed: true, Urgent: true, Immediate: true}
	later := Notice{Needed: true, Urgent: true}
	have := func(what string, got, want Notice) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	have("a new piece to the rack", local.HaveNotice(0, true, false), now)
	have("a new piece to a busy rack", local.HaveNotice(0, false, false), Notice{Needed: true})
	have("a new piece to another rack", rack.HaveNotice(0, true, false), now)
	have("a piece to a peer that fetches over a link", remote.HaveNotice(0, true, false), now)
	have("one of many such pieces", remote.HaveNotice(0, true, true), later)
	for _, l := range table.Levels {
		l.AddHolder(0)
	}
	have("a piece that the rack has", local.HaveNotice(0, true, false), Notice{Needed: true})
	have("a piece that the site has to another rack", rack.HaveNotice(1, true, false), now)
	if n := rack.HaveNotice(0, true, false); n != (Notice{}) {
		t.Errorf("a rack that does not match is sent a piece that its site has: %+v", n)
	}

	f := table.Start(2, false)
	f.Level = table.Site()
	have("a claim for the site", local.ClaimNotice(f), now)
	have("a claim for the site to another rack", rack.ClaimNotice(f), now)
	have("a claim to another site", remote.ClaimNotice(f), later)
	f.Level = table.Own()
	have("a claim for the rack to another rack", rack.ClaimNotice(f), later)
	if remote.ClaimNotice(f).Needed {
		t.Error("another site is sent the claim of a piece that the site has")
	}
}
