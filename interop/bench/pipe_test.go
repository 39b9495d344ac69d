package bench

import (
	"testing"
	"time"
)

// TestGridPipes gets to pipes on all receivers, whose first bytes arrive long before the last ones.
func TestGridPipes(t *testing.T) {
	t.Parallel()
	b := fastGrid(t, "4x4", 60e6, Kills{})
	var first time.Duration
	o := &observedMob{Mob: Mob{Bin: bin(t), Options: []string{PipeOption}}, t: t}
	o.after = func(tr *mobTransfer) {
		for _, d := range tr.Daemons {
			first = max(first, d.first.Sub(d.started))
		}
	}
	r := mustRun(t, b, o)
	t.Logf("the first bytes of the slowest receiver after %v, the last ones after %.1f s", first, r.Last)
	if first.Seconds() > r.Last/4 && r.Machine < fullyBusy {
		t.Errorf("the first bytes of the slowest receiver came after %v of %.1f s", first, r.Last)
	}
}
