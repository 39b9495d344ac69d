package avail

import "testing"

// TestOrderIsFair checks that each cluster is first for its part of the pieces.
func TestOrderIsFair(t *testing.T) {
	const pieces = 10000
	names := []string{"A", "B", "C", "D", "a longer name"}
	first := map[string]int{}
	for i := range pieces {
		best := names[0]
		for _, name := range names[1:] {
			if NewOrder(name).At(i) < NewOrder(best).At(i) {
				best = name
			}
		}
		first[best]++
	}
	for _, name := range names {
		if n, fair := first[name], pieces/len(names); n < fair*9/10 || n > fair*11/10 {
			t.Errorf("%s comes first at %d of %d pieces", name, n, pieces)
		}
	}
}
