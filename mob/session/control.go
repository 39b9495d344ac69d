package session

// Control is the part of a table that a picker uses and changes. Its own View is of the node's site.
type Control struct {
	View
	levels []View
}

// NewControl returns the control of a table that has its levels.
func NewControl(t *Table) Control {
	c := Control{View: t.View(t.Site())}
	for _, l := range t.Levels {
		c.levels = append(c.levels, t.View(l))
	}
	return c
}

// Levels returns the views of all groups that the node is in, from its site to its own cluster.
func (c *Control) Levels() []View { return c.levels }

// From returns the view of the outermost group that a number from a peer enters; for a local peer the
// node's cluster.
func (c *Control) From(p Source) View {
	return c.levels[min(p.p.Shared, len(c.levels)-1)]
}

// Want adds number i to the numbers to fetch, unless it is stored or in progress, and reports whether
// that is news.
func (c *Control) Want(i int) bool {
	return !c.t.Stored.Have.Has(i) && c.t.Fetches[i] == nil && c.t.Wanted.Add(i)
}

// Unwant removes number i from the numbers to fetch.
func (c *Control) Unwant(i int) { c.t.Wanted.Remove(i) }

// Open is Want for a number that peers may have announced already, and has the node request it.
// Members take turns at it, as if peers announced it now.
func (c *Control) Open(i int) (news bool) {
	t := c.t
	if !c.Want(i) {
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

// Reconsider has the node look again for something to request of the peers that have number i.
func (c *Control) Reconsider(i int) { c.t.Reconsider(i) }

// ReconsiderAll has it look again at all peers.
func (c *Control) ReconsiderAll() { c.t.ReconsiderAll() }

// Defer keeps the node from requesting number i of a peer for as long as a stalled peer is left
// alone.
func (c *Control) Defer(p Source, i int) {
	if p.p != nil && c.t.Joined[p.p.ID] == p.p {
		c.t.Defer(p.p, i, c.t.Tuning.Stall)
	}
}

// DeferOthers is Defer for all peers but p.
func (c *Control) DeferOthers(p Source, i int) {
	for _, q := range c.t.Peers {
		if q != p.p {
			c.Defer(Source{q}, i)
		}
	}
}

// Allow ends what Defer did for number i and all peers.
func (c *Control) Allow(i int) {
	for _, q := range c.t.Peers {
		delete(q.Deferred, i)
	}
}

// AddMissing adds n to the numbers that a group still needs for the content.
func (c *Control) AddMissing(v View, n int) { v.l.Inflow.Missing += n }

// Changed reports whether any View of the numbers first <= i < end may have changed since the last
// call. It is for one caller.
func (c *Control) Changed(first, end int) bool {
	return c.t.Stored.TakeDirty(first, end)
}

// maxCandidates bounds the numbers that one pick looks at. Beyond it the best of a random sample
// is as good, or of the first of them if they have an order.
const maxCandidates = 512

// Best returns the wanted number with the least key that a peer has, -1 if there is none. key returns
// false for a number that is not to be started with the peer. Ties are broken at random.
func (c *Control) Best(p Source, key func(i int) (int, bool)) int {
	t := c.t
	best, bestKey, ties, seen := -1, 0, 0, 0
	last := p.p.Rationed
	from := 0
	if t.Layout.Together == 0 {
		from = t.Rand.IntN((t.Layout.Count+63)/64) * 64
	}
	for i := range t.Wanted.Intersection(p.p.Have, from) {
		k, ok := key(i)
		if !ok || last && t.isHeld(p.p, i) {
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
