package fleet

import (
	"testing"

	"github.com/mobgrid/mob/interop/bench"
)

// TestSeedOptions has the content seeded as the system says.
func TestSeedOptions(t *testing.T) {
	w := &watched{System: System{Bin: bin, Seed: []string{"piece-length=1MiB"}}, t: t}
	if w.Name() != "mob:piece-length=1MiB" {
		t.Error(w.Name())
	}
	w.after = func(tr *Transfer) {
		for _, d := range tr.Daemons {
			if st := d.mustStatus(t); st.PieceLength != 1<<20 {
				t.Errorf("%s got pieces of %d bytes", d.Name(), st.PieceLength)
			}
		}
	}
	if r := run(t, fast(t, "2x2", 6e6, bench.Kills{}), w); r.CPUPerGB <= 0 {
		t.Errorf("%f s of CPU for each GB", r.CPUPerGB)
	}
}
