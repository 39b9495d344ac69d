package avail

import (
	"math"
	"testing"
	"time"
)

// TestInflow checks that the interval follows the rate of pieces, and grows while none comes.
func TestInflow(t *testing.T) {
	f, now := Inflow{Missing: 300}, time.Unix(1, 0)
	if _, ok := f.Left(now); ok {
		t.Error("an interval before anything came")
	}
	for _, pause := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond} {
		for range 100 {
			now = now.Add(pause)
			f.Add(now)
		}
		if got, want := interval(&f, now), pause.Seconds(); math.Abs(got-want) > want/5 {
			t.Errorf("an interval of %v s, want about %v", got, want)
		}
	}
	if f.Missing != 100 {
		t.Errorf("%d are missing, want 100", f.Missing)
	}
	if got := interval(&f, now.Add(time.Minute)); got != 60 {
		t.Errorf("an interval of %v s after a minute without a piece", got)
	}
}

// interval returns the time between two pieces.
func interval(f *Inflow, now time.Time) float64 {
	left, _ := f.Left(now)
	return left / float64(f.Missing)
}
