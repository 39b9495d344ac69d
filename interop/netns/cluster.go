package netns

import "fmt"

// Cluster describes a site: a gateway with a bridge, and nodes on it.
type Cluster struct {
	// Name of the cluster, unique in the grid and not empty.
	Name string
	// Nodes is the number of nodes, 0 to 1000.
	Nodes int
	// NIC is the rate of each node's connection to the bridge, both ways. Zero: no limit.
	NIC Rate
	// SlowNIC overrides NIC for some nodes, by index. It does not override WANNIC.
	SlowNIC map[int]Rate
	// WANNIC, if not zero, gives every node a second interface, eth1, with this rate both ways,
	// for all traffic with other clusters. NIC then limits the LAN only.
	WANNIC Rate
}

// Clusters describes clusters named A, B, C and so on, with these numbers of nodes and unlimited
// NICs.
func Clusters(nodes ...int) []Cluster {
	all := make([]Cluster, len(nodes))
	for i, n := range nodes {
		all[i] = Cluster{Name: string(rune('A' + i)), Nodes: n}
	}
	return all
}

// NodeNIC is the rate of a node's connection to the bridge; zero for no limit.
func (c Cluster) NodeNIC(node int) Rate {
	if r, slow := c.SlowNIC[node]; slow {
		return r
	}
	return c.NIC
}

// validate checks all fields but Name, which must be unique among others.
func (c Cluster) validate() error {
	if c.Nodes < 0 || c.Nodes > maxNodes {
		return fmt.Errorf("%d nodes: use 0 to %d", c.Nodes, maxNodes)
	}
	for i, r := range c.SlowNIC {
		if i < 0 || i >= c.Nodes {
			return fmt.Errorf("SlowNIC has node %d of %d", i, c.Nodes)
		}
		if err := checkRate(r); err != nil {
			return fmt.Errorf("SlowNIC of node %d: %w", i, err)
		}
	}
	if c.NIC != 0 {
		if err := checkRate(c.NIC); err != nil {
			return fmt.Errorf("NIC: %w", err)
		}
	}
	if c.WANNIC != 0 {
		if err := checkRate(c.WANNIC); err != nil {
			return fmt.Errorf("WANNIC: %w", err)
		}
	}
	return nil
}
