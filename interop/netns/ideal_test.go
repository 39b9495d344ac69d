package netns

import (
	"maps"
	"math"
	"slices"
	"testing"
	"time"
)

const standardSize = 240e6

// near reports whether two times are equal except for rounding.
func near(a, b time.Duration) bool {
	return math.Abs(float64(a-b)) <= 1e-6*float64(max(a, b))
}

func TestIdealTimeOfSteadyLinks(t *testing.T) {
	for _, c := range []struct {
		links Links
		want  Rate
	}{
		{Fast(), 12 * MBps}, {Slow(), 6.8 * MBps},
		{Uniform(2*MBps, "A", "B"), 2 * MBps}, {Fast().Among("A", "C", "D"), 6 * MBps},
	} {
		if got, want := IdealTime(Steady(c.links), clustersOf(c.links), standardSize), c.want.Time(standardSize); !near(got, want) {
			t.Errorf("%v: %v, want %v", c.links, got, want)
		}
	}
}

func TestIdealTimeOfSwitches(t *testing.T) {
	const at = 10 * time.Second
	for _, c := range []struct {
		before, after Links
		want          time.Duration
	}{
		{Fast(), Slow(), at + Rate(6.8*MBps).Time(120e6)},
		{Slow(), Fast(), at + Rate(12*MBps).Time(172e6)},
	} {
		if got := IdealTime(Switch(c.before, c.after, at), clustersOf(c.before), standardSize); !near(got, c.want) {
			t.Errorf("switch from %v: %v, want %v", c.before, got, c.want)
		}
	}
	if got, want := IdealTime(Switch(Fast(), Slow(), time.Hour), clustersOf(Fast()), standardSize), 20*time.Second; !near(got, want) {
		t.Errorf("switch after the end: %v, want %v", got, want)
	}
}

// A cut that is the least one at no time may still be the slowest: bytes cannot change sides
// between the halves.
func TestIdealTimeIntegratesEachCut(t *testing.T) {
	before := Links{}.With("A", "B", 1).With("A", "C", 9).With("B", "C", 1)
	after := Links{}.With("A", "B", 9).With("A", "C", 1).With("B", "C", 1)
	// Into B: 2/s, then 10/s. Into C: 10/s, then 2/s. Into both: 10/s all along.
	if got, want := IdealTime(Switch(before, after, 4*time.Second), clustersOf(before), 48), 8*time.Second; !near(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestIdealTimeOfRacks(t *testing.T) {
	for _, c := range []struct {
		uplink Rate
		links  Links
		want   Rate
	}{
		{12.5 * MBps, Fast().Among("A", "B"), 3 * MBps},
		{2 * MBps, Fast().Among("A", "B"), 2 * MBps},
		{0, Slow().Among("A", "B"), 3 * MBps},
		{25 * MBps, Links{}, 25 * MBps},
	} {
		sites := []Cluster{
			{Name: "A", Nodes: 4, Racks: []int{2, 2}, Uplink: c.uplink},
			{Name: "B", Nodes: 4, Racks: []int{2, 2}, Uplink: c.uplink},
		}
		sites = sites[:max(1, len(clustersOf(c.links)))]
		if got, want := IdealTime(Steady(c.links), sites, standardSize), c.want.Time(standardSize); !near(got, want) {
			t.Errorf("%v, %v: %v, want %v", c.uplink, c.links, got, want)
		}
	}
}

func TestIdealTimeAtTheEdges(t *testing.T) {
	if got := IdealTime(Steady(Links{}), Clusters(1), standardSize); got != 0 {
		t.Errorf("no other cluster: %v, want 0", got)
	}
	if got := IdealTime(Steady(Fast().Among("B", "C", "D")), Clusters(1, 1, 1, 1), standardSize); got != Forever {
		t.Errorf("source without links: %v, want Forever", got)
	}
	if got := IdealTime(Steady(Fast()), Clusters(1, 1, 1, 1), 0); got != 0 {
		t.Errorf("nothing to send: %v, want 0", got)
	}
}

// clustersOf returns a cluster of one node at each end of links, in alphabetical order.
func clustersOf(l Links) (all []Cluster) {
	names := map[string]bool{}
	for p := range l.rates {
		names[p.a], names[p.b] = true, true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		all = append(all, Cluster{Name: name, Nodes: 1})
	}
	return all
}
