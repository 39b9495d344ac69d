package bench

import (
	"testing"

	"github.com/mobgrid/mob/interop/netns"
)

// testCase is a case with scenario fast.
func testCase(t testing.TB, clusters string, size int64) Case {
	t.Helper()
	cl, err := ParseClusters(clusters)
	if err != nil {
		t.Fatal(err)
	}
	c := Case{Config: netns.Config{Clusters: cl}, Size: size, Seed: 1}
	if err := c.SetScenario("", nil); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestValidate(t *testing.T) {
	for name, change := range map[string]func(c *Case){
		"a single node":    func(c *Case) { c.Clusters = c.Clusters[:1]; c.Clusters[0].Nodes = 1 },
		"no content":       func(c *Case) { c.Size = 0 },
		"no such node":     func(c *Case) { c.Clusters[1].SlowNIC = map[int]netns.Rate{2: 1} },
		"a slow source":    func(c *Case) { c.Clusters[0].SlowNIC = map[int]netns.Rate{0: 1} },
		"a link is absent": func(c *Case) { c.Scenario = netns.Steady(netns.Fast().Among("A", "C")) },
	} {
		c := testCase(t, "2x2", 1e6)
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		if change(&c); c.Validate() == nil {
			t.Errorf("%s is not an error", name)
		}
	}
}

func near(a, b float64) bool { return a-b < 1e-3 && b-a < 1e-3 }
