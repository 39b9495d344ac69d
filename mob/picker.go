package mob

import "github.com/mobgrid/mob/mob/assign"

// Picker decides what a [State] requests: which number of a peer next, which numbers are of use,
// and what follows when one arrives or is lost. The State decides of whom: it keeps the peers,
// the requests and the claims, and takes the numbers from its picker. A number stands for a
// piece, or for a block of a coded transfer.
//
// A Picker belongs to one State, which calls it from within Step. It computes only, and calls
// nothing but its [Control].
type Picker interface {
	// Layout describes the numbers. The State calls it first.
	Layout() Layout
	// Attach gives the picker its State, which has the numbers that are stored. The picker adds
	// to [View.Wanted] what is to be fetched. It is called once.
	Attach(c *Control)
	// Pick returns a wanted number to begin with a peer that has it, -1 if there is none.
	Pick(p Peer) int
	// Makes reports whether a peer that has a number makes it itself, and does not pass on what
	// another made.
	Makes(p Peer, i int) bool
	// Apply takes in an event that says what became of numbers: [Stored], [Failed], [Lost],
	// [Useless], [Decoded], [Polluted] or [Grown]. The picker has its State note what follows.
	Apply(ev Event)
	// Claimed tells that a peer of a group which goes first has claimed a number as well.
	Claimed(v View, i int)
	// Gained reports whether a number that no member of a group had brings the group nearer to
	// the whole content.
	Gained(v View, i int) bool
	// Doubtful reports whether what members have of a number may be false, so that it is fetched
	// as if they lacked it.
	Doubtful(i int) bool
	// Lag counts the numbers that other members of a group have, and the node neither has nor
	// requested, as far as they are of use.
	Lag(v View) int
	// Unclaimed reports whether a group lacks a number that no member has claimed.
	Unclaimed(v View) bool
}

// Layout describes the numbers of a [Picker].
type Layout struct {
	// Count is how many there are.
	Count int
	// Size is the length of each in bytes, a multiple of [proto.Cell], and Length that of all:
	// the last may be shorter.
	Size   int
	Length int64
	// Short has the length of each number that is shorter than Size and Length say. The picker may
	// add a number before it wants it.
	Short map[int]int
	// Together is how many numbers that follow each other are picked before any later ones, of those that
	// several members of the cluster have or none. With 0 there is no order.
	Together int
	// Current is how many numbers are of interest at a time, Count if all are.
	Current int
	// Whole says that a number is requested with one request. Otherwise requests are of any size.
	Whole bool
	// Batched says that many numbers become available at a time. They are announced together, and
	// not each at once.
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
