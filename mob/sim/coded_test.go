package sim

import (
	"testing"

	"github.com/mobgrid/mob/mob"
)

// TestCoded holds coded transfers to a share of the bound and one copy per cluster, as
// TestScenarios does plain ones. Hardly a block is a combination of others.
func TestCoded(t *testing.T) {
	for _, c := range []struct {
		name  string
		least float64
	}{{Fast, 0.89}, {Slow, 0.92}, {Mayhem, 0.79}} {
		r := median(t, func(seed uint64) Config {
			k := standard(t, c.name, 240e6, seed)
			k.PieceLength, k.Coding = 128<<10, mob.Coding{Blocks: 16, Names: 32, Live: 32}
			return k
		})
		t.Logf("%s\n%v", c.name, r)
		if r.Share() < c.least {
			t.Errorf("%s: %.3f of the bound, want %.2f", c.name, r.Share(), c.least)
		}
		for i, k := range r.Copies {
			if most := []float64{0.02, 1.03}[min(i, 1)]; k.Copies > most {
				t.Errorf("%s: %.3f copies into %s", c.name, k.Copies, k.Cluster)
			}
		}
		if blocks := 15 * 240e6 / (128 << 10); float64(r.Useless) > blocks/100 {
			t.Errorf("%s: %d useless blocks of %.0f", c.name, r.Useless, blocks)
		}
	}
}

// TestLossyShort has a member that refuses half of what it is asked for, and short
// pieces or blocks, so many refusals: the others of its mob take others, of it or of each
// other, and are not much later.
func TestLossyShort(t *testing.T) {
	for name, coding := range map[string]mob.Coding{"plain": {}, "coded": {Blocks: 16, Names: 32, Live: 32}} {
		for seed := range uint64(3) {
			k := standard(t, Fast, 60e6, seed+1)
			k.PieceLength, k.Coding = 64<<10, coding
			calm := run(t, k).Time
			k.Faults.Lossy = []int{9}
			r := run(t, k)
			if ratio := r.Time.Seconds() / calm.Seconds(); ratio > 1.15 || r.Rejects == 0 {
				t.Errorf("%s, seed %d: %.2f times the time without\n%v", name, k.Seed, ratio, r)
			} else {
				t.Logf("%s, seed %d: %.2f times the time without, %d refusals", name, k.Seed, ratio, r.Rejects)
			}
		}
	}
}

// TestCodedLocalBottleneck is one cluster whose interfaces are the limit. Blocks are
// passed on before their generation is decoded.
func TestCodedLocalBottleneck(t *testing.T) {
	r := run(t, Config{Clusters: Grid(20), Length: 100e6, PieceLength: 64 << 10, NIC: 1.875e6, Seed: 1,
		Coding: mob.Coding{Blocks: 16, Names: 32, Live: 64}})
	t.Log(r)
	if r.Share() < 0.94 {
		t.Errorf("%.3f of the bound", r.Share())
	}
}
