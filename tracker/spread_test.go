package tracker

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSpreadVisitsAllOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 300 {
		s := newSpread(n, rng)
		seen := make([]bool, n)
		for k := range n {
			if i := s.at(k); seen[i] {
				t.Fatalf("n %d: %d comes twice", n, i)
			} else {
				seen[i] = true
			}
		}
	}
}

func TestSpreadBeginningsAreEven(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{100, 1000, 4096, 20000} {
		for _, take := range []int{4, 16, 64} {
			s := newSpread(n, rng)
			at := make([]int, take)
			for k := range take {
				at[k] = s.at(k)
			}
			slices.Sort(at)
			widest := at[0] + n - at[take-1]
			for i := 1; i < take; i++ {
				widest = max(widest, at[i]-at[i-1])
			}
			if widest > 3*n/take {
				t.Errorf("%d of %d: a gap of %d, an even share is %d", take, n, widest, n/take)
			}
		}
	}
}
