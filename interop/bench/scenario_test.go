package bench

import (
	"testing"

	"github.com/mobgrid/mob/interop/netns"
)

func TestSetScenario(t *testing.T) {
	given := netns.Uniform(5*netns.MBps, clusterNames(20)...)
	for _, c := range []struct {
		clusters, name string
		given          *netns.Links
		ideal          float64 // seconds for 12 MB, -1 for an error
	}{
		{"4x4", "", nil, 1}, {"4x4", "fast", nil, 1}, {"4x4", "slow", nil, 12 / 6.8}, {"2x4", "fast", nil, 4},
		{"4", "fast", nil, 0}, {"4", "fast-slow", nil, 0}, {"4", "mayhem", nil, 0},
		{"5x4", "fast", nil, -1}, {"4x4", "steady", nil, -1}, {"4x4", "fast", &given, -1}, {"4x4", "nonsense", nil, -1},
		{"4x4", "", &given, 0.8}, {"20x50", "", &given, 12.0 / 95},
	} {
		cl, err := ParseClusters(c.clusters)
		if err != nil {
			t.Fatal(err)
		}
		k := Case{Config: netns.Config{Clusters: cl}, Size: 12e6}
		err = k.SetScenario(c.name, c.given)
		if (err == nil) != (c.ideal >= 0) {
			t.Errorf("%s %s: %v", c.clusters, c.name, err)
		}
		if err == nil && !near(k.Ideal().Seconds(), c.ideal) {
			t.Errorf("%s %s: ideal %v, want %.3f s", c.clusters, c.name, k.Ideal(), c.ideal)
		}
	}
	for _, name := range []string{fast, slow, fastSlow, slowFast, mayhem, random} {
		k := testCase(t, "3x2", 12e6)
		if err := k.SetScenario(name, nil); err != nil || k.Validate() != nil || k.Ideal() <= 0 {
			t.Errorf("%s: %v, %v, ideal %v", name, err, k.Validate(), k.Ideal())
		}
	}
	k := testCase(t, "4x1", 12e6)
	cl, _ := ParseClusters("20x50")
	k.Clusters = cl
	if err := k.SetScenario("mayhem", &given); err != nil {
		t.Fatal(err)
	}
	if got := k.Ideal().Seconds(); got < 12.0/95 || got > 10*12.0/95 {
		t.Errorf("mayhem among many: ideal %.3f s", got)
	}
}
