package netns

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

// copies is the traffic of a link in one direction, by the size of the content.
type copies struct {
	from, to string
	n        float64
}

// checkLinks compares counters with the copies of n bytes that were sent.
func checkLinks(t *testing.T, all []LinkBytes, n float64, want []copies) {
	t.Helper()
	if len(all) != len(want) {
		t.Fatalf("%d directions, want %d: %v", len(all), len(want), all)
	}
	for i, w := range want {
		got := all[i]
		if got.From != w.from || got.To != w.to {
			t.Fatalf("link %d is %s to %s, want %s to %s", i, got.From, got.To, w.from, w.to)
		}
		sent := float64(got.Bytes) / n
		if w.n > 0 {
			within(t, "copies from "+w.from+" to "+w.to, sent, w.n, 0.02)
		} else if sent > 0.1 {
			t.Errorf("%.3f copies from %s to %s", sent, w.from, w.to)
		}
	}
}

func TestLinkBytesOfEachDirection(t *testing.T) {
	t.Parallel()
	const size = 4e6
	g := newGrid(t, Config{Clusters: Clusters(1, 1, 1), Links: Uniform(40*MBps, "A", "B", "C")})
	transfer(t, g.Node("A", 0), g.Node("B", 0), size)
	transfer(t, g.Node("C", 0), g.Node("A", 0), 2*size)
	all, err := g.LinkBytes()
	if err != nil {
		t.Fatal(err)
	}
	checkLinks(t, all, size, []copies{{"A", "B", 1}, {"A", "C", 0}, {"B", "A", 0}, {"B", "C", 0}, {"C", "A", 2}, {"C", "B", 0}})
	into := make(map[string]uint64)
	for _, l := range all {
		if least := l.Bytes / (64 << 10); l.Frames < least || l.Frames*14 > l.Bytes {
			t.Errorf("%d frames of %d bytes from %s to %s", l.Frames, l.Bytes, l.From, l.To)
		}
		into[l.To] += l.Bytes
	}
	for to, sum := range into {
		if wan, err := g.WANBytes(to); err != nil || wan != sum {
			t.Errorf("WANBytes of %s is %d, its links have %d (%v)", to, wan, sum, err)
		}
	}
}

func TestNICBytesOfEachNode(t *testing.T) {
	t.Parallel()
	const size = 4e6
	g := newGrid(t, Config{Clusters: Clusters(3)})
	transfer(t, g.Node("A", 0), g.Node("A", 1), size)
	transfer(t, g.Node("A", 2), g.Node("A", 0), 2*size)
	all, err := g.NICBytes("A")
	if err != nil || len(all) != 3 {
		t.Fatalf("%v, %v", all, err)
	}
	for i, want := range []float64{1, 0, 2} {
		l := all[i]
		if l.From != fmt.Sprint("A", i) || l.To != "A" || l.Frames == 0 {
			t.Errorf("NIC %d is %+v", i, l)
		}
		if copies := float64(l.Bytes) / size; math.Abs(copies-want) > 0.1 {
			t.Errorf("node %d sent %.3f copies, want %.0f", i, copies, want)
		}
	}
	if _, err := g.NICBytes("B"); err == nil {
		t.Error("no error for a cluster that does not exist")
	}
}

func TestLinkBytesIsCheap(t *testing.T) {
	if testing.Short() {
		t.Skip("a grid of 64 nodes: not with -short")
	}
	pass := func(each int) time.Duration { // the least of twenty
		g := newGrid(t, Config{Clusters: Clusters(each, each, each, each), Links: Fast()})
		var times []time.Duration
		for range 20 {
			start := time.Now()
			if _, err := g.LinkBytes(); err != nil {
				t.Fatal(err)
			}
			times = append(times, time.Since(start))
		}
		return slices.Min(times)
	}
	few, many := pass(1), pass(16)
	t.Logf("%v for one pass over 4 nodes, and %v over 64", few, many)
	if many > 32*few {
		t.Errorf("a pass over 64 nodes takes %v, and one over 4 %v", many, few)
	}
}
