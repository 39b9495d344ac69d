package plan

import (
	"math"
	"testing"
	"time"
)

func TestBoundOfRacks(t *testing.T) {
	wan := func(rate float64) Carried {
		return func(_, _ int, until time.Duration) float64 { return rate * until.Seconds() }
	}
	two := func(uplink float64) []Rack { return []Rack{{0, uplink}, {0, uplink}, {1, uplink}, {1, uplink}} }
	for _, c := range []struct {
		name  string
		racks []Rack
		wan   float64
		want  float64 // bytes per second
	}{
		{"the WAN is the limit", two(12.5), 3, 3},
		{"the uplinks are", two(2), 3, 2},
		{"nothing limits uplinks", two(0), 3, 3},
		{"one rack is slow", []Rack{{0, 9}, {0, 1}, {1, 9}}, 3, 1},
		{"one site", []Rack{{0, 25}, {0, 25}, {0, 5}}, 0, 5},
		{"hosts on the switch relay for a rack", []Rack{{0, 0}, {0, 5}, {1, 0}}, 3, 3},
		{"sites without racks", []Rack{{0, 0}, {1, 0}, {2, 0}}, 3, 6},
		{"a rack relays for other sites", []Rack{{0, 0}, {1, 0}, {2, 1}}, 3, 1},
		{"every site relays", []Rack{{0, 0}, {1, 0}, {2, 9}, {2, 9}}, 3, 6},
		{"the source's rack sends all", []Rack{{0, 5}, {0, 9}, {1, 9}, {2, 9}}, 3, 5},
	} {
		const bytes = 90
		got := BoundOfRacks(c.racks, bytes, wan(c.wan)).Seconds()
		if want := bytes / c.want; math.Abs(got-want) > 1e-6*want {
			t.Errorf("%s: %.3f s, want %.3f", c.name, got, want)
		}
	}
	if got := BoundOfRacks([]Rack{{0, 5}}, 90, wan(1)); got != 0 {
		t.Errorf("a single rack: %v", got)
	}
	if got := BoundOfRacks(two(5), 90, wan(0)); got != Never {
		t.Errorf("a site without a link: %v", got)
	}
}
