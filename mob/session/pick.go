package session

// The methods below are for the pickers of package mob, which choose numbers from a Table and change the set of wanted
// numbers.

// From returns the outermost group that a number from a peer enters; for a local peer the node's cluster.
func (t *Table) From(p *Peer) *Level { return t.Levels[min(p.Shared, len(t.Levels)-1)] }

// Want adds number i to the numbers to fetch, unless it is stored or in progress, and reports whether
// that is news.
func (t *Table) Want(i int) bool {
	return !t.Stored.Have.Has(i) && t.Fetches[i] == nil && t.Wanted.Add(i)
}

// Open is Want for a number that peers may have announced already, and has the node request it.
// Members take turns at it, as if peers announced it now.
func (t *Table) Open(i int) (news bool) {
	if !t.Want(i) {
		return false
	}
	for _, p := range t.Peers {
		if !p.Local && p.Have.Has(i) && p.IsActive() {
			t.TakeTurn(p, i)
		}
	}
	t.Reconsider(i)
	return true
}

// Avoid keeps the node from requesting number i of a peer for as long as a stalled peer is left alone. The peer may be
// nil, or have left.
func (t *Table) Avoid(p *Peer, i int) {
	if p != nil && t.Joined[p.ID] == p {
		t.Defer(p, i, t.Tuning.Stall)
	}
}

// AvoidOthers is Avoid for all peers but p.
func (t *Table) AvoidOthers(p *Peer, i int) {
	for _, q := range t.Peers {
		if q != p {
			t.Avoid(q, i)
		}
	}
}

// Allow ends what Avoid did for number i and all peers.
func (t *Table) Allow(i int) {
	for _, p := range t.Peers {
		delete(p.Deferred, i)
	}
}

// MustWait reports whether number i is not to be started with a peer yet: another member's turn comes first, the
// peer sent a bad one, or a plan assigns it.
func (t *Table) MustWait(p *Peer, i int) bool { return p.IsDeferred(i) || t.Work.Sender(i) != nil }

// Leaves reports whether the node leaves number i to other members of a group, which it is far behind. No member
// offers a number that has passed.
func (t *Table) Leaves(l *Level, i int) bool { return l.Behind && !t.Stored.Passed.Has(i) }

// Before returns the number of siblings of the group that need number i and are to start it before the
// group. It is a preference: nothing waits for it. Near the end it makes clusters start different pieces.
func (l *Level) Before(i int) (n int) {
	own := l.order.At(i)
	for _, to := range l.Links {
		if !to.Pieces.Has(i) && to.At(i) < own {
			n++
		}
	}
	return n
}

// CompleteIn returns how many peers of a group, and how many siblings of it, have all of the numbers
// first <= i < end.
func (t *Table) CompleteIn(l *Level, first, end int) (members, siblings int) {
	for _, p := range t.Peers {
		if p.Shared > l.Index && p.Have.Count(first, end) == end-first {
			members++
		}
	}
	for _, to := range l.Links {
		if to.Pieces.Count(first, end) == end-first {
			siblings++
		}
	}
	return members, siblings
}

// Ordered returns a number that a plan has a peer send, -1 if there is none.
func (t *Table) Ordered(p *Peer) int {
	if !p.Pipe.Deep {
		return -1
	}
	i, pause := t.Work.Next(p.Planned, t.Wanted.Intersection(p.Have, 0), p.IsDeferred, t.Now, t.Tuning.Queue)
	switch {
	case pause > 0:
		t.Defer(p, i, pause)
		return -1
	case i >= 0:
		t.Work.Pay(i, t.Layout.SizeOf(i), t.Now)
	}
	return i
}

// maxCandidates bounds the numbers that one pick looks at. Beyond it the best of a random sample
// is as good, or of the first of them if they have an order.
const maxCandidates = 512

// Best returns the wanted number with the least key that a peer has, -1 if there is none. key returns
// false for a number that is not to be started with the peer. Ties are broken at random.
func (t *Table) Best(p *Peer, key func(i int) (int, bool)) int {
	best, bestKey, ties, seen := -1, 0, 0, 0
	from := 0
	if t.Layout.Together == 0 {
		from = t.Rand.IntN((t.Layout.Count+63)/64) * 64
	}
	for i := range t.Wanted.Intersection(p.Have, from) {
		k, ok := key(i)
		if !ok || p.Rationed && t.isHeld(p, i) {
			continue
		}
		switch {
		case best < 0 || k < bestKey:
			best, bestKey, ties = i, k, 1
		case k == bestKey:
			if ties++; t.Rand.IntN(ties) == 0 {
				best = i
			}
		}
		if seen++; seen >= maxCandidates {
			break
		}
	}
	return best
}
