package sim

import "testing"

// TestInOrder fetches from the front, which takes little longer than in the order of rarity, and as few copies.
func TestInOrder(t *testing.T) {
	long(t)
	for _, name := range []string{fast, slow, mayhem} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := func(together int) *Report {
				return median(t, func(seed uint64) Config {
					c := scenario(name, 240e6, seed)
					c.Together = together
					return c
				})
			}
			free := of(0)
			ordered := of(16 << 20 / scenario(name, 240e6, 1).PieceLength)
			t.Logf("%.3f of the bound in order, %.3f without", ordered.Share(), free.Share())
			if ordered.Share() < 0.95*free.Share() {
				t.Errorf("%.3f of the bound in order, %.3f without", ordered.Share(), free.Share())
			}
			oneCopy(t, name, ordered)
		})
	}
}
