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
	for _, v := range c.Levels() {
		c.AddMissing(v, c.Wanted().Len())
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
func (k *pieces) Pick(p Peer) int {
	if i := k.Ordered(p); i >= 0 {
		return i
	}
	v := k.From(p)
	if p.Local() {
		return k.Best(p, func(i int) (int, bool) { return k.localKey(v, i), !v.Deferred(p, i) })
	}
	return k.Best(p, func(i int) (int, bool) {
		if v.Deferred(p, i) || !v.Free(i) || v.Leaves(i) {
			return 0, false
		}
		run := k.run(i) + k.lead*(2*v.Rarity(i)+v.Before(i))
		key := 2*(maxBefore*v.Rarity(i)+min(v.Before(i), maxBefore-1)) + run<<runShift
		if !v.InShare(i) {
			key++
		}
		return key, true
	})
}

// localKey orders the pieces of a local peer. If pieces have an order, pieces that a single member
// has come first: while there is an unclaimed one, that member sends no piece twice.
func (k *pieces) localKey(v View, i int) (key int) {
	holders := v.Holders(i)
	key = holders + k.run(i)<<runShift
	if v.Level() > 0 {
		key += v.Rarity(i) << rarityShift
	}
	if !v.InShare(i) {
		key += 1 << 24
	}
	switch {
	case holders == 1 && v.Claims(i) > 0:
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
		for _, v := range k.Levels() {
			if v.Holders(ev.Piece) == 0 {
				k.AddMissing(v, 1)
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
func (k *pieces) Claimed(View, int) {}

// Gained implements [Picker].
func (k *pieces) Gained(View, int) bool { return true }

// Makes implements [Picker]: who made a piece is of no interest.
func (k *pieces) Makes(Peer, int) bool { return false }

// Unverified implements [Picker].
func (k *pieces) Unverified(int) bool { return false }

// Lag implements [Picker]. Pieces that few members have may arrive late without a lag.
func (k *pieces) Lag(v View) (n int) {
	_, size := v.Rank()
	for i := range k.Wanted().All() {
		if h := v.Holders(i); h > v.Seeds() && 2*h >= size-1 {
			n++
		}
	}
	return n
}

// Unclaimed implements [Picker].
func (k *pieces) Unclaimed(v View) bool {
	for i := range k.Wanted().All() {
		if v.Free(i) {
			return true
		}
	}
	return false
}
