package netns

import (
	"errors"
	"fmt"
	"strconv"
)

// Cluster describes a site: a gateway with a bridge, and nodes on it or on bridges of racks.
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
	// Racks, if not empty, are the numbers of nodes in each rack, in the order of the nodes, all
	// of them. A rack has its own bridge, with a link to the gateway's bridge. There is no
	// WANNIC then.
	Racks []int
	// Uplink is the rate of each rack's link to the gateway's bridge, both ways. Zero: no limit.
	Uplink Rate
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

// Name names the node by its cluster and index, such as B2.
func (n *Node) Name() string { return n.Cluster + strconv.Itoa(n.Index) }

// NodeNIC is the rate of a node's connection to the bridge; zero for no limit.
func (c Cluster) NodeNIC(node int) Rate {
	if r, slow := c.SlowNIC[node]; slow {
		return r
	}
	return c.NIC
}

// RackOf is the index of a node's rack, -1 without racks.
func (c Cluster) RackOf(node int) int {
	for i, nodes := range c.Racks {
		if node < nodes {
			return i
		}
		node -= nodes
	}
	return -1
}

// RackName is the name of a rack as a path: A/r1 for the first one of A.
func (c Cluster) RackName(rack int) string { return c.Name + "/r" + strconv.Itoa(rack+1) }

// Path is the name of a node's rack as a path, or of the cluster without racks.
func (c Cluster) Path(node int) string {
	if r := c.RackOf(node); r >= 0 {
		return c.RackName(r)
	}
	return c.Name
}

// validate checks all fields but Name, which must be unique.
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
	for _, r := range []struct {
		name string
		rate Rate
	}{{"NIC", c.NIC}, {"WANNIC", c.WANNIC}, {"rack uplink", c.Uplink}} {
		if r.rate != 0 {
			if err := checkRate(r.rate); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	sum := 0
	for i, nodes := range c.Racks {
		if nodes < 0 {
			return fmt.Errorf("rack %d has %d nodes", i+1, nodes)
		}
		sum += nodes
	}
	switch {
	case len(c.Racks) > maxRacks:
		return fmt.Errorf("%d racks: use up to %d", len(c.Racks), maxRacks)
	case len(c.Racks) > 0 && sum != c.Nodes:
		return fmt.Errorf("racks of %d nodes in total, for %d nodes", sum, c.Nodes)
	case len(c.Racks) > 0 && c.WANNIC != 0:
		return errors.New("both racks and a WANNIC: a node's traffic with other clusters leaves by its rack")
	}
	return nil
}
