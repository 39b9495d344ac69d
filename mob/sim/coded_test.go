package sim

import (
	"testing"

	"github.com/mobgrid/mob/mob/coded"
)

// TestCoded holds coded transfers to a share of the bound and one copy per cluster, as
// TestScenarios does plain ones. Few blocks are useless.
func TestCoded(t *testing.T) {
	long(t)
	for _, c := range []struct {
		name  string
		least float64
	}{{fast, 0.89}, {slow, 0.92}, {mayhem, 0.79}} {
		r := median(t, func(seed uint64) Config {
			k := scenario(c.name, 240e6, seed)
			k.PieceLength, k.Coding = 128<<10, coded.Coding{Blocks: 16, Names: 32, Live: 32}
			return k
		})
		t.Logf("%s\n%v", c.name, r)
		if r.Share() < c.least {
			t.Errorf("%s: %.3f of the bound, want %.2f", c.name, r.Share(), c.least)
		}
		oneCopy(t, c.name, r)
		if blocks := 15 * 240e6 / (128 << 10); float64(r.Useless) > blocks/100 {
			t.Errorf("%s: %d useless blocks of %.0f", c.name, r.Useless, blocks)
		}
	}
}

// TestCodedLocalBottleneck is one cluster whose NICs are the limit. Blocks are passed
// on before their generation is decoded.
func TestCodedLocalBottleneck(t *testing.T) {
	r := run(t, Config{
		Clusters:    grid(20),
		Length:      100e6,
		PieceLength: 64 << 10,
		NIC:         1.875e6,
		Seed:        1,
		Coding:      coded.Coding{Blocks: 16, Names: 32, Live: 64},
	})
	t.Log(r)
	if r.Share() < 0.94 {
		t.Errorf("%.3f of the bound", r.Share())
	}
}
