package session

import (
	"time"

	"github.com/mobgrid/mob/mob/bitset"
)

// View is the read-only part of a table that a picker sees: which peers have or claim which numbers,
// and the numbers in progress. It is for one group that the node is in, see [Control.From].
type View struct {
	t *Table
	l *Level
}

// View returns the view of a group.
func (t *Table) View(l *Level) View { return View{t, l} }

// Source is a joined peer, as a picker sees it. The zero Source is none.
type Source struct{ p *Peer }

// Source returns the peer as pickers see it.
func (p *Peer) Source() Source { return Source{p} }

// Local reports whether the peer is of the node's cluster.
func (s Source) Local() bool { return s.p.Local }

// Has returns the numbers that the peer has, which must not be changed.
func (s Source) Has() *bitset.Set { return s.p.Have }

// Has reports whether number i is stored.
func (v View) Has(i int) bool { return v.t.Stored.Have.Has(i) }

// Stored returns how many of the numbers first <= i < end are stored.
func (v View) Stored(first, end int) int { return v.t.Stored.Have.Count(first, end) }

// Wanted returns the numbers to fetch that are not in progress. Change them with [Control.Want] and
// [Control.Unwant] only.
func (v View) Wanted() *bitset.Set { return v.t.Wanted }

// Level is the place of the group among those that the node is in, 0 for its site.
func (v View) Level() int { return v.l.Index }

// Rank returns the node's rank among the members of the group, and how many these are.
func (v View) Rank() (rank, size int) { return v.l.Rank, v.l.Size }

// InShare reports whether number i is in the node's share.
func (v View) InShare(i int) bool { return v.l.Share.Has(i) }

// Holders returns how many peers of the group have number i.
func (v View) Holders(i int) int { return int(v.l.Holders[i]) }

// Seeds returns the number of peers of the group that have had every number since they joined, if they
// are few for all that fetch. Numbers that only they have count as if no member had them.
func (v View) Seeds() int { return v.l.Seeds }

// Claims returns how many peers of the group have claimed number i.
func (v View) Claims(i int) int { return int(v.l.Claims[i]) }

// Rarity returns how many siblings of the group have number i or have claimed it.
func (v View) Rarity(i int) int { return int(v.l.Rarity[i]) }

// Free reports whether no other member of the group has number i, as far as that is verified, or
// claims it, and whether the node knows the group well enough.
func (v View) Free(i int) bool { return v.t.MayTake(v.l, i) }

// Leaves reports whether the node leaves number i to other members of the group, which it is far behind. No member
// offers a number that has passed.
func (v View) Leaves(i int) bool { return v.l.Behind && !v.t.Stored.Passed.Has(i) }

// Before returns the number of siblings of the group that need number i and are to start it before the
// group. It is a preference: nothing waits for it. Near the end it makes clusters start different pieces.
func (v View) Before(i int) (n int) {
	own := v.l.order.At(i)
	for _, to := range v.l.Links {
		if !to.Pieces.Has(i) && to.At(i) < own {
			n++
		}
	}
	return n
}

// Complete returns how many peers of the group, and how many siblings of it, have all of the numbers
// first <= i < end.
func (v View) Complete(first, end int) (members, siblings int) {
	for _, p := range v.t.Peers {
		if p.Shared > v.l.Index && p.Have.Count(first, end) == end-first {
			members++
		}
	}
	for _, to := range v.l.Links {
		if to.Pieces.Count(first, end) == end-first {
			siblings++
		}
	}
	return members, siblings
}

// Deferred reports whether number i is not to be started with a peer yet: another member's turn comes first, the
// peer sent a bad one, or a plan assigns it.
func (v View) Deferred(p Source, i int) bool {
	return p.p.IsDeferred(i) || v.t.Work.Sender(i) != nil
}

// Ordered returns a number that a plan has a peer send, -1 if there is none.
func (v View) Ordered(p Source) int {
	if !p.p.Pipe.Deep {
		return -1
	}
	t := v.t
	i, pause := t.Work.Next(p.p.Planned, t.Wanted.Intersection(p.p.Have, 0), p.p.IsDeferred, t.Now, t.Tuning.Queue)
	switch {
	case pause > 0:
		t.Defer(p.p, i, pause)
		return -1
	case i >= 0:
		t.Work.Pay(i, t.Layout.SizeOf(i), t.Now)
	}
	return i
}

// InProgress is a number in progress.
type InProgress struct {
	// Peer is the source that it was requested of, if there is one at the moment.
	Peer Source
	// Enters says that it comes from outside of the group.
	Enters bool
	// Started is the time of its start.
	Started time.Time
}

// Fetch returns how number i is fetched; ok is false if it is not in progress.
func (v View) Fetch(i int) (f InProgress, ok bool) {
	is := v.t.Fetches[i]
	if is == nil {
		return InProgress{}, false
	}
	return InProgress{Source{is.Peer}, is.Enters(v.l), is.Started}, true
}
