package flow

import (
	"math"
	"testing"
	"time"
)

// TestRateFollows checks that the rate is of the last seconds with outstanding bytes.
func TestRateFollows(t *testing.T) {
	var m Meter
	if m.Rate() != 0 {
		t.Error("a rate before anything came")
	}
	now := time.Unix(1, 0)
	for _, bytes := range []int{1000, 50} {
		m.Start(now.Add(time.Hour)) // nothing was outstanding for an hour
		now = now.Add(time.Hour)
		for range 100 {
			now = now.Add(time.Second / 10)
			m.Add(now, bytes)
		}
		if want := float64(10 * bytes); math.Abs(m.Rate()-want) > want/100 {
			t.Errorf("%v bytes per second, want about %v", m.Rate(), want)
		}
	}
}
