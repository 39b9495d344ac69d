package netns

import "fmt"

// Cluster describes one site: a gateway with a bridge, and nodes on it.
type Cluster struct {
	// Name of the cluster, not empty, unique in the grid.
	Name string
	// Nodes is how many there are, 0 to 1000.
	Nodes int
	// NIC limits each node's connection to the bridge, both ways. Zero: not limited.
	NIC Rate
	// SlowNIC has the limits of those nodes that differ, by index; they take the place of NIC. WANNIC is the same for all.
	SlowNIC map[int]Rate
	// WANNIC, if not zero, gives every node a second interface, eth1, limited to this rate both ways, for all that goes to and
	// comes from other clusters; NIC then limits the LAN alone.
	WANNIC Rate
}

// Clusters describes clusters named A, B, C and so on with these numbers of nodes and unlimited NICs.
func Clusters(nodes ...int) []Cluster {
	all := make([]Cluster, len(nodes))
	for i, n := range nodes {
		all[i] = Cluster{Name: string(rune('A' + i)), Nodes: n}
	}
	return all
}

// NodeNIC is the limit of one node's connection to the bridge, zero for none.
func (c Cluster) NodeNIC(node int) Rate {
	if r, slow := c.SlowNIC[node]; slow {
		return r
	}
	return c.NIC
}

// validate says what is wrong with all but the name, which is good or not beside others.
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
