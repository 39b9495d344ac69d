package session

import "github.com/mobgrid/mob/mob/assign"

// Layout describes the numbers of a picker.
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

// Share returns the share of a member. Coded blocks are not divided, since a share of them is a number of blocks.
// Where numbers have an order, members take turns.
func (l *Layout) Share(rank, size int) assign.Share {
	switch {
	case l.Whole:
		return assign.All(l.Count)
	case l.Together > 0:
		return assign.Turns(l.Count, rank, size)
	}
	return assign.Ranges(l.Count, rank, size)
}

// SizeOf is the length of number i in bytes.
func (l *Layout) SizeOf(i int) int {
	if n, ok := l.Short[i]; ok {
		return n
	}
	return int(min(int64(l.Size), l.Length-int64(i)*int64(l.Size)))
}
