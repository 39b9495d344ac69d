package meter

import (
	"math"
	"testing"
	"time"
)

// The pause follows the rate at which pieces come, and grows while none does.
func TestPauseFollows(t *testing.T) {
	f, now := Inflow{Lacking: 300}, time.Unix(1, 0)
	if f.Pause(now) != 0 {
		t.Error("a pause before anything came")
	}
	for _, pause := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond} {
		for range 100 {
			now = now.Add(pause)
			f.Came(now)
		}
		if got, want := f.Pause(now), pause.Seconds(); math.Abs(got-want) > want/5 {
			t.Errorf("a pause of %v s, want about %v", got, want)
		}
	}
	if f.Lacking != 100 {
		t.Errorf("%d are lacking, want 100", f.Lacking)
	}
	if got := f.Pause(now.Add(time.Minute)); got != 60 {
		t.Errorf("a pause of %v s after a minute without a piece", got)
	}
}
