package mob

import "github.com/mobgrid/mob/mob/assign"

// Picker decides what a [State] requests: the next number to request of a peer, the useful numbers,
// and what follows when one arrives or is lost. The State keeps the peers, the requests and the
// claims. A number is a piece, or a block of a coded transfer. A Picker belongs to one State, which
// calls it from Step. It only computes, and calls only its [Control].
type Picker interface {
	// Layout describes the numbers. The State calls it first.
	Layout() Layout
	// Attach gives the picker its State, which has the numbers that are stored. The picker adds
	// to [View.Wanted] what is to be fetched. It is called once.
	Attach(c *Control)
	// Pick returns a wanted number to start with a peer that has it, -1 if there is none.
	Pick(p Peer) int
	// Makes reports whether a peer that has a number makes it itself, and does not forward it.
	Makes(p Peer, i int) bool
	// Apply handles an event about numbers: [Stored], [Failed], [Lost], [Useless], [Decoded], [Polluted]
	// or [Grown].
	Apply(ev Event)
	// Claimed reports that a peer of a group that precedes the node has claimed a number as well.
	Claimed(v View, i int)
	// Gained reports whether a number that no member of a group had is useful to the group.
	Gained(v View, i int) bool
	// Unverified reports whether the copies of members may be corrupt, so that the number is fetched as if
	// they did not have it.
	Unverified(i int) bool
	// Lag counts the numbers that other members of a group have, and the node neither has nor
	// requested, as far as they are of use.
	Lag(v View) int
	// Unclaimed reports whether a group needs a number that no member has claimed.
	Unclaimed(v View) bool
}

// Layout describes the numbers of a [Picker].
type Layout struct {
	// Count is the number of numbers.
	Count int
	// Size is the length of each in bytes, a multiple of [proto.Cell], and Length their sum: the last may be
	// shorter.
	Size   int
	Length int64
	// Short has the length of each number that is shorter than Size and Length suggest. The picker may add a
	// number before it is wanted.
	Short map[int]int
	// Together is the number of consecutive numbers that are picked before later ones, among those that
	// several members of the cluster have or none. With 0 there is no order.
	Together int
	// Current is the number of numbers of interest at a time, Count for all.
	Current int
	// Whole is true if a number is requested with one request. Otherwise requests are of any size.
	Whole bool
	// Batched is true if several numbers become available at a time. They are announced together.
	Batched bool
}

// share returns the share of a member. Coded blocks are not divided, since a share of them is a number of blocks.
// Where numbers have an order, members take turns.
func (l *Layout) share(rank, size int) assign.Share {
	d := assign.Ranges
	switch {
	case l.Whole:
		d = assign.All
	case l.Together > 0:
		d = assign.Turns
	}
	return d.Share(l.Count, rank, size)
}

// size is the length of number i in bytes.
func (l *Layout) size(i int) int {
	if n, ok := l.Short[i]; ok {
		return n
	}
	return int(min(int64(l.Size), l.Length-int64(i)*int64(l.Size)))
}
