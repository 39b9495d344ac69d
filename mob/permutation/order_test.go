package permutation

import "testing"

// TestOrders follows the orders through the rounds of two batches of 10 blocks, and
// a third of 4, among 8 nodes. By algorithm 2 the second batch goes first in rounds
// 10+1+1 to 10+1+3, and the third from 10+1+3+10+1+1 on.
func TestOrders(t *testing.T) {
	c := newCalendar([]int{10, 10, 4}, 8)
	for _, w := range []struct {
		order         Order
		oldest, round int
		want          choice
	}{
		{Sequential, 0, 1, choice{0, none}},
		{Sequential, 0, 99, choice{0, none}},
		{Sequential, 2, 1, choice{2, none}},
		{Overlap1, 0, 1, choice{0, 1}},
		{Overlap1, 1, 99, choice{1, 2}},
		{Overlap1, 2, 99, choice{2, none}},
		{Overlap2, 0, 1, choice{0, none}},
		{Overlap2, 0, 11, choice{0, none}},
		{Overlap2, 0, 12, choice{1, 0}},
		{Overlap2, 0, 14, choice{1, 0}},
		{Overlap2, 0, 15, choice{0, 1}},
		{Overlap2, 0, 99, choice{0, 1}},   // never more than two
		{Overlap2, 1, 1, choice{1, none}}, // all have the first sooner than planned
		{Overlap2, 1, 25, choice{1, none}},
		{Overlap2, 1, 26, choice{2, 1}},
		{Overlap2, 1, 28, choice{2, 1}},
		{Overlap2, 1, 29, choice{1, 2}},
		{Overlap2, 2, 29, choice{2, none}},
		{Sequential, 3, 29, choice{none, none}},
		{Overlap2, 3, 29, choice{none, none}},
	} {
		if got := w.order.choose(&c, w.oldest, w.round); got != w.want {
			t.Errorf("order %d, oldest %d, round %d: %v, want %v", w.order, w.oldest, w.round, got, w.want)
		}
	}
}

// TestBoost wants the rounded-up logarithm of the number of nodes.
func TestBoost(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 20: 5, 256: 8, 257: 9, 300: 9} {
		if got := newCalendar([]int{1}, n).boost; got != want {
			t.Errorf("%d nodes: %d rounds, want %d", n, got, want)
		}
	}
}
