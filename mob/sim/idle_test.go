package sim

import (
	"math"
	"testing"
)

// TestIdle wants a cause for every link and moment, the same use of links as their
// counters have, and a run that the survey does not change.
func TestIdle(t *testing.T) {
	c := scenario(fast, 60e6, 1)
	plain := run(t, c)
	c.Idle = true
	r := run(t, c)
	if plain.Trace != r.Trace || plain.Time != r.Time {
		t.Error("a run with a survey differs from one without")
	}
	busy := map[string]float64{} // bytes into a cluster, by the links' counters
	for _, l := range r.Links {
		busy[l.To] += float64(l.Bytes)
	}
	for _, i := range r.Idle {
		var all Use
		for _, bin := range i.Bins {
			for cause, n := range bin {
				all[cause] += n
			}
		}
		t.Logf("\n%v", &i)
		if math.Abs(all[Sending]-busy[i.To]) > 0.03*busy[i.To] {
			t.Errorf("into %s: %.0f bytes in the survey, %.0f on the links", i.To, all[Sending], busy[i.To])
		}
		first, last := i.Bins[0], i.Bins[len(i.Bins)-1]
		if first.Of(Nothing) == 0 || last.Of(Done) == 0 {
			t.Errorf("into %s: a new piece in the first moment, or one to request in the last", i.To)
		}
	}
}
