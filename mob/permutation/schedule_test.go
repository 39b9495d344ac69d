package permutation

import (
	"testing"

	"github.com/mobgrid/mob/proto"
)

// TestSchedule goes through the rounds of two generations of 10 blocks, and a third of 4,
// among 8 nodes. By algorithm 2 the second generation goes first in rounds 10+1+1 to
// 10+1+3, and the third from 10+1+3+10+1+1 on.
func TestSchedule(t *testing.T) {
	for _, w := range []struct {
		strategy      proto.Strategy
		oldest, round int
		first, second int
	}{
		{proto.Sequential, 0, 1, 0, None},
		{proto.Sequential, 0, 99, 0, None},
		{proto.RandomBlock, 0, 99, 0, None},
		{proto.Overlap1, 0, 1, 0, 1},
		{proto.Overlap1, 1, 99, 1, 2},
		{proto.Overlap1, 2, 99, 2, None},
		{proto.Overlap2, 0, 1, 0, None},
		{proto.Overlap2, 0, 11, 0, None},
		{proto.Overlap2, 0, 12, 1, 0},
		{proto.Overlap2, 0, 14, 1, 0},
		{proto.Overlap2, 0, 15, 0, 1},
		{proto.Overlap2, 0, 99, 0, 1},   // never more than two
		{proto.Overlap2, 1, 1, 1, None}, // all have the first sooner than planned
		{proto.Overlap2, 1, 25, 1, None},
		{proto.Overlap2, 1, 26, 2, 1},
		{proto.Overlap2, 1, 28, 2, 1},
		{proto.Overlap2, 1, 29, 1, 2},
		{proto.Overlap2, 2, 29, 2, None},
		{proto.Sequential, 3, 29, None, None},
		{proto.Overlap2, 3, 29, None, None},
	} {
		first, second := NewSchedule(w.strategy, []int{10, 10, 4}, 8).At(w.oldest, w.round)
		if first != w.first || second != w.second {
			t.Errorf("%v, oldest %d, round %d: %d and %d, want %d and %d", w.strategy, w.oldest, w.round, first, second, w.first, w.second)
		}
	}
}

// TestBoost wants the rounded-up logarithm of the number of nodes.
func TestBoost(t *testing.T) {
	for n, want := range map[int]int{1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 20: 5, 256: 8, 257: 9, 300: 9} {
		if got := NewSchedule(proto.Overlap2, []int{1}, n).boost; got != want {
			t.Errorf("%d nodes: %d rounds, want %d", n, got, want)
		}
	}
}
