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
	if at := (Rate{}).At(5); !math.IsInf(at, 1) {
		t.Errorf("no rate is %v", at)
	}
	if at := r.At(10 * time.Second); at != 1 {
		t.Errorf("rate at 10 s is %v", at)
	}
}

func TestPipe(t *testing.T) {
	p := pipe{rate: Constant(100)}
	if got := p.send(time.Second, 100); got != 2*time.Second {
		t.Errorf("first out at %v", got)
	}
	if got := p.send(1500*time.Millisecond, 100); got != 3*time.Second {
		t.Errorf("second out at %v", got)
	}
	if got := p.send(5*time.Second, 100); got != 6*time.Second || p.busy != 3*time.Second || p.bytes != 300 {
		t.Errorf("third out at %v, busy %v, %d bytes", got, p.busy, p.bytes)
	}
}

// TestIdeal has the bounds of the grid.
func TestIdeal(t *testing.T) {
	for _, c := range []struct {
		name        string
		least, most float64 // MB/s
	}{
		{Fast, 12, 12}, {Slow, 6.8, 6.8}, {FastSlow, 8, 9}, {SlowFast, 9.5, 11}, {Mayhem, 4, 8},
	} {
		links, err := Standard(c.name, 240e6, 1)
		if err != nil {
			t.Fatal(err)
		}
		k := Config{Clusters: Grid(4, 4, 4, 4), Length: 240e6, Links: links}
		if got := 240 / k.Ideal().Seconds(); got < c.least-0.01 || got > c.most+0.01 {
			t.Errorf("%s: %.2f MB/s, want %v to %v", c.name, got, c.least, c.most)
		}
	}
	if _, err := Standard("calm", 1, 1); err == nil {
		t.Error("a scenario of any name")
	}
}
