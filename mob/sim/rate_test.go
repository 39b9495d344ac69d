package sim

import (
	"math"
	"testing"
	"time"
)

func TestRate(t *testing.T) {
	r := Rate{{0, 10}, {10 * time.Second, 1}, {20 * time.Second, 100}}
	for _, c := range []struct {
		start time.Duration
		bytes float64
		want  time.Duration
	}{
		{0, 50, 5 * time.Second},
		{0, 100, 10 * time.Second},
		{0, 105, 15 * time.Second},
		{9 * time.Second, 10 + 10 + 100, 21 * time.Second},
		{30 * time.Second, 100, 31 * time.Second},
	} {
		if got := r.after(c.start, c.bytes); (got - c.want).Abs() > time.Microsecond {
			t.Errorf("%v bytes from %v on: %v, want %v", c.bytes, c.start, got, c.want)
		}
	}
	if at := (Rate{}).at(5); !math.IsInf(at, 1) {
		t.Errorf("no rate is %v", at)
	}
	if at := r.at(10 * time.Second); at != 1 {
		t.Errorf("rate at 10 s is %v", at)
	}
}

// at is the rate at a time, in bytes per second.
func (r Rate) at(t time.Duration) float64 {
	v := math.Inf(1)
	for _, s := range r {
		if s.From > t {
			break
		}
		v = s.BytesPerSec
	}
	return v
}
