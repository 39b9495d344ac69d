package rlnc_test

import (
	"errors"
	"math"
	"testing"

	"github.com/mobgrid/mob/mob/rlnc"
)

func TestLayout(t *testing.T) {
	for _, c := range []struct{ blocks, k, generations, last int }{
		{0, 16, 0, 0}, {1, 16, 1, 1}, {16, 16, 1, 16}, {17, 16, 2, 1}, {31, 16, 2, 15}, {32, 16, 2, 16},
		{5, 1, 5, 1}, {254, 255, 1, 254}, {511, 255, 3, 1}, {math.MaxInt, 255, math.MaxInt/255 + 1, math.MaxInt % 255},
	} {
		l, err := rlnc.NewLayout(c.blocks, c.k)
		if err != nil {
			t.Fatal(err)
		}
		if n := l.Generations(); n != c.generations {
			t.Errorf("%d blocks by %d: %d generations, want %d", c.blocks, c.k, n, c.generations)
			continue
		}
		for _, g := range []int{math.MinInt, -1, c.generations, math.MaxInt} {
			if first, k, err := l.Blocks(g); !errors.Is(err, rlnc.ErrGeneration) {
				t.Errorf("%d blocks by %d: generation %d is %d from %d, %v", c.blocks, c.k, g, k, first, err)
			}
		}
		if c.generations == 0 {
			continue
		}
		first, k, err := l.Blocks(c.generations - 1)
		if err != nil || k != c.last || first+k != c.blocks {
			t.Errorf("%d blocks by %d: the last generation has %d from %d, %v", c.blocks, c.k, k, first, err)
		}
		if g, place := l.Of(c.blocks - 1); g != c.generations-1 || place != c.last-1 {
			t.Errorf("%d blocks by %d: the last is %d of generation %d", c.blocks, c.k, place, g)
		}
	}
	if _, err := rlnc.NewLayout(-1, 16); err == nil {
		t.Error("-1 blocks have a layout")
	}
}

// TestBounds tries every k around the ends at everything that takes one.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		k  int
		ok bool
	}{{-1, false}, {0, false}, {1, true}, {2, true}, {254, true}, {255, true}, {256, false}, {math.MaxInt, false}} {
		made := map[string]error{"CheckK": rlnc.CheckK(c.k)}
		_, made["NewLayout"] = rlnc.NewLayout(100, c.k)
		_, made["NewBasis"] = rlnc.NewBasis(c.k)
		_, made["FullBasis"] = rlnc.FullBasis(c.k)
		_, made["NewDecoder"] = rlnc.NewDecoder(c.k, 100)
		if c.k >= 0 && c.k <= 256 {
			blocks := make([][]byte, c.k)
			for i := range blocks {
				blocks[i] = []byte("block")
			}
			_, made["NewEncoder"] = rlnc.NewEncoder(blocks)
		}
		for name, err := range made {
			if (err == nil) != c.ok {
				t.Errorf("%s with k = %d: %v", name, c.k, err)
			}
		}
	}
}
