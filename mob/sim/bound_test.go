package sim

import "testing"

// TestIdeal makes the bounds of the grid.
func TestIdeal(t *testing.T) {
	for _, c := range []struct {
		name        string
		least, most float64 // MB/s
	}{
		{fast, 12, 12}, {slow, 6.8, 6.8}, {fastSlow, 8, 9}, {slowFast, 9.5, 11}, {mayhem, 4, 8},
	} {
		k := scenario(c.name, 240e6, 1)
		if got := 240 / k.Ideal().Seconds(); got < c.least-0.01 || got > c.most+0.01 {
			t.Errorf("%s: %.2f MB/s, want %v to %v", c.name, got, c.least, c.most)
		}
	}
}
