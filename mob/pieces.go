package mob

// pieces is the [Picker] for plain pieces: rarest first, as clusters see it.
type pieces struct {
	*Control
	layout Layout
	// lead is the number of runs that a piece is delayed for each group that is to start with it before the own one.
	lead int
}

// newPieces returns the picker of length bytes in pieces of size bytes. together is [Layout.Together].
func newPieces(length int64, size, together int) *pieces {
	count := int((length + int64(size) - 1) / int64(size))
	return &pieces{layout: Layout{Count: count, Size: size, Length: length, Together: together, Current: count}, lead: min(together, 1)}
}

// Layout implements [Picker].
func (k *pieces) Layout() Layout { return k.layout }

// Attach implements [Picker].
func (k *pieces) Attach(c *Control) {
	k.Control = c
	for i := range k.layout.Count {
		c.Want(i)
	}
	for _, l := range c.Levels {
		l.Inflow.Missing += c.Wanted.Len()
	}
}

// maxBefore bounds the clusters before the own one that a pick tells apart.
const maxBefore = 32

// Pick implements [Picker].
//
// Over a link it takes a piece that no member of the own group has or claimed, and that the fewest
// groups beside it have or claimed: a piece that two clusters fetch from each other crosses the
// source's links once. Among those it takes one that the fewest are to begin before its own, and
// then one of the node's share. If pieces have an order, a piece that is less rare comes some runs later: otherwise all
// clusters would fetch the front over the source's links.
//
// On the LAN it takes the share first, since other clusters wait for it from here, and in a rack
// what the fewest racks beside it have; then what the fewest local peers have. A piece that a single peer has and another member claims comes
// last: that member will soon have it too. Ties are broken at random.
func (k *pieces) Pick(p *Peer) int {
	if i := k.Ordered(p); i >= 0 {
		return i
	}
	l := k.From(p)
	if p.Local {
		return k.Best(p, func(i int) (int, bool) { return k.localKey(l, i), !k.MustWait(p, i) })
	}
	return k.Best(p, func(i int) (int, bool) {
		if k.MustWait(p, i) || !k.MayTake(l, i) || k.Leaves(l, i) {
			return 0, false
		}
		rarity, before := int(l.Rarity[i]), l.Before(i)
		run := k.run(i) + k.lead*(2*rarity+before)
		key := 2*(maxBefore*rarity+min(before, maxBefore-1)) + run<<runShift
		if !l.Share.Has(i) {
			key++
		}
		return key, true
	})
}

// localKey orders the pieces of a local peer. If pieces have an order, pieces that a single member
// has come first: while there is an unclaimed one, that member sends no piece twice.
func (k *pieces) localKey(l *Level, i int) (key int) {
	holders := int(l.Holders[i])
	key = holders + k.run(i)<<runShift
	if l.Index > 0 {
		key += int(l.Rarity[i]) << rarityShift
	}
	if !l.Share.Has(i) {
		key += 1 << 24
	}
	switch {
	case holders == 1 && l.Claims[i] > 0:
		key += 1 << 60
	case holders > 1 && k.layout.Together > 0:
		key += 1 << 59
	}
	return key
}

// runShift is above what else orders pieces, and rarityShift above the number of local peers. firstRun is the number of
// pieces in the first run, which a reader waits for.
const runShift, rarityShift, firstRun = 32, 12, 16

// run returns the run of piece i: earlier runs are picked first. It is 0 where pieces have no order.
func (k *pieces) run(i int) int {
	if k.layout.Together == 0 {
		return 0
	}
	return 1 + (i+k.layout.Together-firstRun)/k.layout.Together
}

// Apply implements [Picker].
func (k *pieces) Apply(ev Event) {
	switch ev := ev.(type) {
	case Stored:
		k.Store(ev.Piece)
	case Failed:
		k.GiveUp(ev.Piece)
		k.fetch(ev.Piece)
	case Lost:
		if !k.Drop(ev.Piece) {
			return
		}
		for _, l := range k.Levels {
			if l.Holders[ev.Piece] == 0 {
				l.Inflow.Missing++
			}
		}
		k.fetch(ev.Piece)
	}
}

// fetch has a piece fetched, unless it is stored.
func (k *pieces) fetch(i int) {
	if k.Want(i) {
		k.Reconsider(i)
	}
}

// Claimed implements [Picker].
func (k *pieces) Claimed(*Level, int) {}

// Gained implements [Picker].
func (k *pieces) Gained(*Level, int) bool { return true }

// Makes implements [Picker]: who made a piece is of no interest.
func (k *pieces) Makes(*Peer, int) bool { return false }

// Unverified implements [Picker].
func (k *pieces) Unverified(int) bool { return false }

// Lag implements [Picker]. Pieces that few members have may arrive late without a lag.
func (k *pieces) Lag(l *Level) (n int) {
	for i := range k.Wanted.All() {
		if h := int(l.Holders[i]); h > l.Seeds && 2*h >= l.Size-1 {
			n++
		}
	}
	return n
}

// Unclaimed implements [Picker].
func (k *pieces) Unclaimed(l *Level) bool {
	for i := range k.Wanted.All() {
		if k.MayTake(l, i) {
			return true
		}
	}
	return false
}
