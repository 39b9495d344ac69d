package mob

import (
	"math"
	"testing"
	"time"
)

// TestInflow wants the interval to follow the rate at which pieces come, and to grow while
// none does.
func TestInflow(t *testing.T) {
	f, now := inflow{lacking: 300}, time.Unix(1, 0)
	if f.interval(now) != 0 {
		t.Error("an interval before anything came")
	}
	for _, pause := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond} {
		for range 100 {
			now = now.Add(pause)
			f.add(now)
		}
		if got, want := f.interval(now), pause.Seconds(); math.Abs(got-want) > want/5 {
			t.Errorf("an interval of %v s, want about %v", got, want)
		}
	}
	if f.lacking != 100 {
		t.Errorf("%d are lacking, want 100", f.lacking)
	}
	if got := f.interval(now.Add(time.Minute)); got != 60 {
		t.Errorf("an interval of %v s after a minute without a piece", got)
	}
}
