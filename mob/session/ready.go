package session

import (
	"cmp"
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/roster"
)

// FindReady finds the groups that the node may fetch for, and returns the ready peers. The peers come first that have
// the rest of a piece to be requested, the oldest piece first, and then they are sorted by ID. Peers may share a
// link's window, and new pieces of one must not take the room of a started one.
func (t *Table) FindReady(mayFetch func(*roster.Group) bool) []*Peer {
	for _, l := range t.Levels {
		if open := mayFetch(l.Group); open != l.Open {
			l.Open = open
			for _, p := range t.Peers {
				t.Refill(p)
			}
		}
	}
	begun := func(p *Peer) time.Time {
		if p.Local || !p.HasStarted() || p.Current.Requested() {
			return t.Now.Add(1) // last
		}
		return p.Current.Started
	}
	slices.SortFunc(t.Ready, func(p, q *Peer) int { return cmp.Or(begun(p).Compare(begun(q)), comparePeers(p, q)) })
	return t.Ready
}

// Refill has the next fill look at a peer: it may have room, or something to be requested.
func (t *Table) Refill(p *Peer) {
	if !p.Ready {
		p.Ready = true
		t.Ready = append(t.Ready, p)
	}
}

// RefillSharing is Refill for a peer that has more room, and for the peers that share its link.
func (t *Table) RefillSharing(p *Peer) {
	if p.Link == nil {
		t.Refill(p)
		return
	}
	for _, q := range p.Link.Peers {
		t.Refill(q)
	}
}

// Reconsider has the next fill look at the peers that have a piece, which may be requested now.
func (t *Table) Reconsider(i int) {
	for _, p := range t.Peers {
		if p.Have.Has(i) {
			p.Idle = false
			t.Refill(p)
		}
	}
}

// ReconsiderAll has the next fill look at all peers.
func (t *Table) ReconsiderAll() {
	for _, p := range t.Peers {
		p.Idle = false
		t.Refill(p)
	}
}
