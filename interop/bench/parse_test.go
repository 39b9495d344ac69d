package bench

import (
	"slices"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

func TestParseClusters(t *testing.T) {
	for text, want := range map[string]string{
		"4x16": "4x16", "4,12,16,32": "4,12,16,32", "20": "20", "2x3,5": "3,3,5", "1x4": "4", "4,4": "2x4",
		"": "", "x": "", "4x": "", "0x4": "", "4x0": "", "-1": "", "4x4x4": "", "4,": "", "four": "", "1001x1": "",
	} {
		got, err := ParseClusters(text)
		if (err == nil) != (want != "") {
			t.Errorf("%q: %v", text, err)
		}
		if c := (&Case{Clusters: got}); want != "" && c.shape() != want {
			t.Errorf("%q: %s, want %s", text, c.shape(), want)
		}
	}
	many, err := ParseClusters("30x1")
	if err != nil || many[0].Name != "A" || many[25].Name != "Z" || many[26].Name != "AA" || many[29].Name != "AD" {
		t.Errorf("%v, %v", many, err)
	}
}

func TestParseReceiver(t *testing.T) {
	for text, want := range map[string]Receiver{
		"C2": {"C", 2}, "AA17": {"AA", 17}, "": {}, "C": {}, "2": {}, "C-1": {"C-", 1}, "C2x": {},
	} {
		got, err := ParseReceiver(text)
		if got != want || (err == nil) != (want != Receiver{}) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestParseKills(t *testing.T) {
	for text, want := range map[string]Kills{
		"10%@5s":     {Percent: 10, After: 5 * time.Second},
		"10%@5s+2s":  {Percent: 10, After: 5 * time.Second, Every: 2 * time.Second},
		"2.5%@300ms": {Percent: 2.5, After: 300 * time.Millisecond},
		"":           {}, "10%": {}, "10@5s": {}, "%@5s": {}, "0%@5s": {}, "101%@5s": {}, "-1%@5s": {}, "NaN%@5s": {}, "10%@-5s": {}, "10%@5": {},
		"10%@5s+": {}, "10%@5s+0s": {}, "10%@5s+-1s": {},
	} {
		got, err := ParseKills(text)
		if got != want || (err == nil) != (want != Kills{}) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if err == nil && got.String() != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func TestVictims(t *testing.T) {
	c := testCase(t, "4x4", 1e6)
	c.Kills = Kills{Percent: 20, After: 5 * time.Second, Every: 2 * time.Second}
	v := c.Victims()
	if len(v) != 3 || v[0].At != 5*time.Second || v[2].At != 9*time.Second {
		t.Fatalf("%v, want three of fifteen, one every two seconds", v)
	}
	if !slices.Equal(v, c.Victims()) {
		t.Error("the same seed kills others")
	}
	seen := map[Receiver]bool{}
	for seed := range uint64(50) {
		c.Seed = seed
		for _, v := range c.Victims() {
			seen[v.Receiver] = true
		}
	}
	if seen[Receiver{"A", 0}] || len(seen) != 15 {
		t.Errorf("%d nodes are killed by some seed: %v", len(seen), seen)
	}
	c.Kills.Percent = 0.1
	if n := len(c.Victims()); n != 1 {
		t.Errorf("%d are killed, want at least one", n)
	}
}

func testCase(t testing.TB, clusters string, size int64) Case {
	t.Helper()
	cl, err := ParseClusters(clusters)
	if err != nil {
		t.Fatal(err)
	}
	c := Case{Clusters: cl, Size: size, Seed: 1}
	if err := c.SetScenario("", nil); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSetScenario(t *testing.T) {
	given := netns.Uniform(5*netns.MBps, clusterNames(20)...)
	for _, c := range []struct {
		clusters, name string
		given          *netns.Links
		ideal          float64 // seconds for 12 MB, 0 for an error
	}{
		{"4x4", "", nil, 1}, {"4x4", "fast", nil, 1}, {"4x4", "slow", nil, 12 / 6.8}, {"2x4", "fast", nil, 4}, {"4", "fast", nil, 0},
		{"5x4", "fast", nil, -1}, {"4x4", "steady", nil, -1}, {"4x4", "fast", &given, -1}, {"4x4", "nonsense", nil, -1},
		{"4x4", "", &given, 0.8}, {"20x50", "", &given, 12.0 / 95},
	} {
		cl, err := ParseClusters(c.clusters)
		if err != nil {
			t.Fatal(err)
		}
		k := Case{Clusters: cl, Size: 12e6}
		err = k.SetScenario(c.name, c.given)
		if (err == nil) != (c.ideal >= 0) {
			t.Errorf("%s %s: %v", c.clusters, c.name, err)
		}
		if err == nil && !near(k.Ideal().Seconds(), c.ideal) {
			t.Errorf("%s %s: ideal %v, want %.3f s", c.clusters, c.name, k.Ideal(), c.ideal)
		}
	}
	for _, name := range append(netns.StandardNames(), random) {
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

func clusterNames(n int) []string {
	var names []string
	for i := range n {
		names = append(names, clusterName(i))
	}
	return names
}

func near(a, b float64) bool { return a-b < 1e-3 && b-a < 1e-3 }

func TestIdealOfNICs(t *testing.T) {
	for _, c := range []struct {
		clusters string
		nic, wan netns.Rate
		slow     map[int]netns.Rate // in the last cluster
		want     float64
	}{
		{"20", 12.5, 0, nil, 16},
		{"4x4", 0, 0, nil, 200.0 / 12},
		{"4x4", 5, 0, nil, 40},
		{"4x4", 5, 0, map[int]netns.Rate{1: 0.5}, 40}, // nobody waits for it
		{"4x4", 0, 2.5, nil, 20},                      // four times 2.5 into a cluster
		{"4x4", 100, 1, nil, 50},
		{"4x4", 0.5, 5, nil, 200 / 5.5},
		{"20", 12.5, 1, nil, 16}, // there is no other cluster
	} {
		k := testCase(t, c.clusters, 200e6)
		for i := range k.Clusters {
			k.Clusters[i].NIC, k.Clusters[i].WANNIC = c.nic*netns.MBps, c.wan*netns.MBps
		}
		k.Clusters[len(k.Clusters)-1].SlowNIC = c.slow
		if got := k.Ideal().Seconds(); !near(got, c.want) {
			t.Errorf("%+v: ideal %.3f s", c, got)
		}
	}
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
			t.Errorf("%s is no error", name)
		}
	}
}
