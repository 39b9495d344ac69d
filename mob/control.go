package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/bitset"
)

// View is the read-only part of a State that a [Picker] sees: which peers have or claim which numbers,
// and the numbers in progress. It is for one group that the node is in, see [Control.From].
type View struct {
	s *State
	l *level
}

// Peer is a joined peer, as a [Picker] sees it. The zero Peer is none.
type Peer struct{ p *peer }

// Local reports whether the peer is of the node's cluster.
func (p Peer) Local() bool { return p.p.local }

// Has returns the numbers that the peer has, which must not be changed.
func (p Peer) Has() *bitset.Set { return p.p.Have }

// Has reports whether number i is stored.
func (v View) Has(i int) bool { return v.s.stored.Have.Has(i) }

// Stored returns how many of the numbers first <= i < end are stored.
func (v View) Stored(first, end int) int { return v.s.stored.Have.Count(first, end) }

// Wanted returns the numbers to fetch that are not in progress. Change them with [Control.Want] and
// [Control.Unwant] only.
func (v View) Wanted() *bitset.Set { return v.s.wanted }

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
func (v View) Free(i int) bool { return v.s.mayTake(v.l, i) }

// Leaves reports whether the node leaves number i to other members of the group, which it is far behind. No member
// offers a number that has passed.
func (v View) Leaves(i int) bool { return v.l.behind && !v.s.stored.Passed.Has(i) }

// Before returns the number of siblings of the group that need number i and are to start it before the
// group. It is a preference: nothing waits for it. Near the end it makes clusters start different pieces.
func (v View) Before(i int) (n int) {
	own := v.l.order.At(i)
	for _, to := range v.l.links {
		if !to.Pieces.Has(i) && to.At(i) < own {
			n++
		}
	}
	return n
}

// Complete returns how many peers of the group, and how many siblings of it, have all of the numbers
// first <= i < end.
func (v View) Complete(first, end int) (members, siblings int) {
	for _, p := range v.s.peers {
		if p.shared > v.l.Index && p.Have.Count(first, end) == end-first {
			members++
		}
	}
	for _, to := range v.l.links {
		if to.Pieces.Count(first, end) == end-first {
			siblings++
		}
	}
	return members, siblings
}

// Deferred reports whether number i is not to be started with a peer yet: another member's turn comes first, the
// peer sent a bad one, or a plan assigns it.
func (v View) Deferred(p Peer, i int) bool {
	return p.p.isDeferred(i) || v.s.work.Sender(i) != nil
}

// Ordered returns a number that a plan has a peer send, -1 if there is none.
func (v View) Ordered(p Peer) int {
	if !p.p.pipe.Deep {
		return -1
	}
	s := v.s
	i, pause := s.work.Next(p.p.member, s.wanted.Intersection(p.p.Have, 0), p.p.isDeferred, s.now, s.t.Queue)
	switch {
	case pause > 0:
		s.deferPiece(p.p, i, pause)
		return -1
	case i >= 0:
		s.work.Pay(i, s.layout.size(i), s.now)
	}
	return i
}

// Fetch is a number in progress.
type Fetch struct {
	// Peer is the peer that it was requested of, if there is one at the moment.
	Peer Peer
	// Enters says that it comes from outside of the group.
	Enters bool
	// Started is the time of its start.
	Started time.Time
}

// Fetch returns how number i is fetched; ok is false if it is not in progress.
func (v View) Fetch(i int) (f Fetch, ok bool) {
	is := v.s.fetches[i]
	if is == nil {
		return Fetch{}, false
	}
	return Fetch{Peer{is.peer}, is.enters(v.l), is.started}, true
}

// Control is the part of a State that a [Picker] uses and changes. Its own View is of the node's site.
type Control struct {
	View
	levels []View
}

func newControl(s *State) *Control {
	c := &Control{View: View{s, s.site()}}
	for _, l := range s.levels {
		c.levels = append(c.levels, View{s, l})
	}
	return c
}

// Levels returns the views of all groups that the node is in, from its site to its own cluster.
func (c *Control) Levels() []View { return c.levels }

// From returns the view of the outermost group that a number from a peer enters; for a local peer the
// node's cluster.
func (c *Control) From(p Peer) View {
	return c.levels[min(p.p.shared, len(c.levels)-1)]
}

// Want adds number i to the numbers to fetch, unless it is stored or in progress, and reports whether
// that is news.
func (c *Control) Want(i int) bool { return c.s.want(i) }

// Unwant removes number i from the numbers to fetch.
func (c *Control) Unwant(i int) { c.s.wanted.Remove(i) }

// Open is Want for a number that peers may have announced already, and has the node request it.
// Members take turns at it, as if peers announced it now.
func (c *Control) Open(i int) (news bool) {
	s := c.s
	if !s.want(i) {
		return false
	}
	for _, p := range s.peers {
		if !p.local && p.Have.Has(i) && p.isActive() {
			s.takeTurn(p, i)
		}
	}
	s.reconsider(i)
	return true
}

// Store records that number i is stored and verified, and announces it.
func (c *Control) Store(i int) { c.s.store(i) }

// Announce announces a number that is stored, again to peers that know it.
func (c *Control) Announce(i int) { c.s.announce(i, avail.Have) }

// Drop records that number i is not stored any more, announces that, and reports whether it was.
func (c *Control) Drop(i int) bool {
	stored, offered := c.s.stored.Remove(i)
	if offered {
		c.s.announceLoss(i)
	}
	return stored
}

// GiveUp ends the fetch of number i, if there is one.
func (c *Control) GiveUp(i int) { c.s.giveUp(i) }

// Reconsider has the node look again for something to request of the peers that have number i.
func (c *Control) Reconsider(i int) { c.s.reconsider(i) }

// ReconsiderAll has it look again at all peers.
func (c *Control) ReconsiderAll() { c.s.reconsiderAll() }

// Defer keeps the node from requesting number i of a peer for as long as a stalled peer is left
// alone.
func (c *Control) Defer(p Peer, i int) {
	if p.p != nil && c.s.joined[p.p.ID] == p.p {
		c.s.deferPiece(p.p, i, c.s.t.Stall)
	}
}

// DeferOthers is Defer for all peers but p.
func (c *Control) DeferOthers(p Peer, i int) {
	for _, q := range c.s.peers {
		if q != p.p {
			c.Defer(Peer{q}, i)
		}
	}
}

// Allow ends what Defer did for number i and all peers.
func (c *Control) Allow(i int) {
	for _, q := range c.s.peers {
		delete(q.deferred, i)
	}
}

// AddMissing adds n to the numbers that a group still needs for the content.
func (c *Control) AddMissing(v View, n int) { v.l.Inflow.Missing += n }

// Changed reports whether any View of the numbers first <= i < end may have changed since the last
// call. It is for one caller.
func (c *Control) Changed(first, end int) bool {
	return c.s.stored.TakeDirty(first, end)
}

// maxCandidates bounds the numbers that one pick looks at. Beyond it the best of a random sample
// is as good, or of the first of them if they have an order.
const maxCandidates = 512

// Best returns the wanted number with the least key that a peer has, -1 if there is none. key returns
// false for a number that is not to be started with the peer. Ties are broken at random.
func (c *Control) Best(p Peer, key func(i int) (int, bool)) int {
	s := c.s
	best, bestKey, ties, seen := -1, 0, 0, 0
	last := p.p.Rationed
	from := 0
	if s.layout.Together == 0 {
		from = s.rng.IntN((s.layout.Count+63)/64) * 64
	}
	for i := range s.wanted.Intersection(p.p.Have, from) {
		k, ok := key(i)
		if !ok || last && s.held(p.p, i) {
			continue
		}
		switch {
		case best < 0 || k < bestKey:
			best, bestKey, ties = i, k, 1
		case k == bestKey:
			if ties++; s.rng.IntN(ties) == 0 {
				best = i
			}
		}
		if seen++; seen >= maxCandidates {
			break
		}
	}
	return best
}
