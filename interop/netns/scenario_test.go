package netns

import (
	"testing"
	"time"
)

func TestSwitchAtThird(t *testing.T) {
	for name, s := range map[string]Scenario{
		"fast-slow": SwitchAtThird(Fast(), Slow(), clustersOf(Fast()), standardSize),
		"slow-fast": SwitchAtThird(Slow(), Fast(), clustersOf(Fast()), standardSize),
	} {
		_, at := s(0)
		if ideal := IdealTime(s, clustersOf(Fast()), standardSize); !near(3*at, ideal) {
			t.Errorf("%s: change at %v of %v", name, at, ideal)
		}
		if links, until := s(at); until != Forever || links.String() == first(s).String() {
			t.Errorf("%s: no change at %v", name, at)
		}
	}
}

func first(s Scenario) Links {
	l, _ := s(0)
	return l
}

func TestMayhem(t *testing.T) {
	s, again := Mayhem(Fast(), time.Second, 7), Mayhem(Fast(), time.Second, 7)
	other := Mayhem(Fast(), time.Second, 8)
	var previous Links
	for n := range 100 {
		at := time.Duration(n) * time.Second
		links, until := s(at + time.Millisecond)
		if until != at+time.Second {
			t.Fatalf("rates of %v hold until %v", at, until)
		}
		same, _ := again(at)
		if links.String() != same.String() {
			t.Fatalf("same seed, different rates at %v: %v and %v", at, links, same)
		}
		different, _ := other(at)
		if links.String() == different.String() || links.String() == previous.String() {
			t.Fatalf("rates repeat at %v", at)
		}
		for _, p := range links.pairs() {
			if share := links.rates[p] / Fast().rates[p]; share < 0.1 || share > 1 {
				t.Fatalf("link %v at %v of nominal", p, share)
			}
		}
		previous = links
	}
}

func TestLinksAreValues(t *testing.T) {
	fast := Fast()
	_ = fast.With("D", "A", 1*MBps).With("A", "E", 1*MBps)
	if got := fast.Rate("D", "A"); got != 6*MBps {
		t.Errorf("With changed its receiver: %v", got)
	}
	if got := fast.Among("A", "D").String(); got != "A-D 6 MB/s" {
		t.Errorf("Among gives %q", got)
	}
}
