package netns

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestBoundOfStandardLinks(t *testing.T) {
	for name, want := range map[string]Rate{"fast": 12, "slow": 6.8} {
		s, err := Standard(name, "A", 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		links, _ := s.Rates(0)
		if got := Bound(links, "A") / MBps; math.Abs(float64(got-want)) > 1e-9 {
			t.Errorf("%s: bound %v, want %v", name, got, want)
		}
	}
}

func TestBoundWithoutOthersIsInfinite(t *testing.T) {
	if got := Bound(Links{}, "A"); !math.IsInf(float64(got), 1) {
		t.Errorf("bound %v, want infinite", got)
	}
	if got := Bound(Fast(), "E"); got != 0 {
		t.Errorf("bound %v from a cluster without links, want 0", got)
	}
}

// The least of the maximal flows has to be the least of all cuts.
func TestBoundAgainstAllCuts(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "b", "c", "d", "e", "f"}
	for range 300 {
		links := Uniform(1, names[:2+draw.IntN(5)]...)
		for _, p := range links.pairs() {
			links = links.With(p.a, p.b, Rate(1+draw.IntN(9)))
		}
		want := Rate(math.Inf(1))
		for _, c := range cuts(links.Clusters(), "a", 0) {
			want = min(want, c.capacity(links))
		}
		if got := Bound(links, "a"); got != want {
			t.Fatalf("%v: bound %v, least cut %v", links, got, want)
		}
	}
}
