package netns

import (
	"math"
	"strings"
	"testing"
)

func TestConfigValidate(t *testing.T) {
	two := Uniform(1*MBps, "A", "B")
	for _, c := range []struct {
		name   string
		config Config
		want   string // part of the error; empty for none
	}{
		{"good", Config{Clusters: Clusters(1, 0), Links: two}, ""},
		{"one cluster", Config{Clusters: Clusters(20)}, ""},
		{"no cluster", Config{}, "use 1 to 16"},
		{"too many nodes", Config{Clusters: Clusters(1001)}, "use 0 to 1000"},
		{"same name", Config{Clusters: []Cluster{{Name: "A"}, {Name: "A"}}}, "not unique"},
		{"no name", Config{Clusters: []Cluster{{Nodes: 1}}}, "empty"},
		{"negative NIC", Config{Clusters: []Cluster{{Name: "A", NIC: -1}}}, "NIC"},
		{"NIC without a number", Config{Clusters: []Cluster{{Name: "A", NIC: Rate(math.NaN())}}}, "A: NIC: rate"},
		{"slow node", Config{Clusters: []Cluster{{Name: "A", Nodes: 2, SlowNIC: map[int]Rate{1: MBps}}}}, ""},
		{"no such node", Config{Clusters: []Cluster{{Name: "A", Nodes: 2, SlowNIC: map[int]Rate{2: MBps}}}}, "node 2 of 2"},
		{"index below 0", Config{Clusters: []Cluster{{Name: "A", Nodes: 2, SlowNIC: map[int]Rate{-1: MBps}}}}, "node -1"},
		{"stopped node", Config{Clusters: []Cluster{{Name: "A", Nodes: 2, SlowNIC: map[int]Rate{0: 0}}}}, "node 0: rate"},
		{"racks", Config{Clusters: []Cluster{{Name: "A", Nodes: 5, Racks: []int{3, 0, 2}, Uplink: MBps}}}, ""},
		{"racks without all nodes", Config{Clusters: []Cluster{{Name: "A", Nodes: 5, Racks: []int{3, 1}}}}, "4 nodes in total, for 5"},
		{"negative rack", Config{Clusters: []Cluster{{Name: "A", Nodes: 1, Racks: []int{2, -1}}}}, "rack 2 has -1"},
		{"slow uplink", Config{Clusters: []Cluster{{Name: "A", Nodes: 1, Racks: []int{1}, Uplink: 1}}}, "rack uplink: rate"},
		{"racks and two NICs", Config{Clusters: []Cluster{{Name: "A", Nodes: 1, Racks: []int{1}, WANNIC: MBps}}}, "both racks"},
		{"missing link", Config{Clusters: Clusters(1, 1, 1), Links: two}, "1 links for 3 clusters"},
		{"foreign link", Config{Clusters: Clusters(1), Links: two}, "does not join"},
		{"no rate", Config{Clusters: Clusters(1, 1), Links: two.With("A", "B", 0)}, "between"},
		{"no number", Config{Clusters: Clusters(1, 1), Links: two.With("A", "B", Rate(math.NaN()))}, "between"},
		{"everything lost", Config{Clusters: Clusters(1), Loss: 1}, "Loss"},
		{"negative RTT", Config{Clusters: Clusters(1), RTT: -1}, "RTT"},
	} {
		err := c.config.validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestAddressesAreUnique(t *testing.T) {
	seen := make(map[string]bool)
	add := func(s string) {
		if seen[s] {
			t.Fatalf("address %s given twice", s)
		}
		seen[s] = true
	}
	for c := range maxClusters {
		add(gatewayIP(c).String())
		for n := range maxNodes {
			add(nodeIP(c, n).String())
		}
		for p := range maxClusters {
			if p != c {
				add(wanIP(c, p).String())
			}
		}
	}
}
