package bench

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// Case is what every system is measured on.
type Case struct {
	// Clusters of the grid; the first node of the first is the source.
	Clusters []netns.Cluster
	// Scenario says how fast the links are from the start of the fetching on, and
	// Name what it is called.
	Scenario netns.Scenario
	Name     string
	// RTT is the round trip between clusters, beside queues.
	RTT time.Duration
	// Size of the content, in bytes.
	Size int64
	// Kills end nodes on the way. The zero value: none.
	Kills Kills
	// Seed makes every random choice: the content, and who is killed.
	Seed uint64
}

// Names are the clusters' names.
func (c *Case) Names() []string {
	names := make([]string, len(c.Clusters))
	for i, cl := range c.Clusters {
		names[i] = cl.Name
	}
	return names
}

// Receiver names a node that is to get a copy.
type Receiver struct {
	Cluster string
	Index   int
}

// String is the name as flags have it, such as C2.
func (r Receiver) String() string { return r.Cluster + strconv.Itoa(r.Index) }

// Receivers are all nodes but the source, cluster by cluster.
func (c *Case) Receivers() []Receiver {
	var all []Receiver
	for i, cl := range c.Clusters {
		for n := range cl.Nodes {
			if i > 0 || n > 0 {
				all = append(all, Receiver{cl.Name, n})
			}
		}
	}
	return all
}

// Slow is whether a receiver's NIC is an exception: it gets its copy too, and
// nobody waits for it.
func (c *Case) Slow(r Receiver) bool {
	i := slices.IndexFunc(c.Clusters, func(cl netns.Cluster) bool { return cl.Name == r.Cluster })
	_, slow := c.Clusters[i].SlowNIC[r.Index]
	return slow
}

// Validate says what no grid and no simulation can run.
func (c *Case) Validate() error {
	switch {
	case len(c.Clusters) == 0 || c.Clusters[0].Nodes < 1 || len(c.Receivers()) == 0:
		return fmt.Errorf("a source in the first cluster and at least one other node are needed")
	case c.Size < 1:
		return fmt.Errorf("a content of %d bytes cannot be sent", c.Size)
	}
	for _, cl := range c.Clusters {
		for n := range cl.SlowNIC {
			if n < 0 || n >= cl.Nodes {
				return fmt.Errorf("there is no node %s%d", cl.Name, n)
			}
		}
	}
	if _, slow := c.Clusters[0].SlowNIC[0]; slow {
		return fmt.Errorf("the source, %s0, cannot be a slow node", c.Clusters[0].Name)
	}
	links, _ := c.Scenario.Rates(0)
	for i, a := range c.Clusters {
		for _, b := range c.Clusters[i+1:] {
			if links.Rate(a.Name, b.Name) <= 0 {
				return fmt.Errorf("the links have no rate between %s and %s", a.Name, b.Name)
			}
		}
	}
	return nil
}

// String describes the case in a line.
func (c *Case) String() string {
	parts := []string{c.shape() + " nodes"}
	if len(c.Clusters) > 1 {
		parts = append(parts, c.Name)
	}
	if c.RTT > 0 {
		parts = append(parts, "round trip "+c.RTT.String())
	}
	if cl := c.Clusters[0]; cl.NIC > 0 && cl.WANNIC > 0 {
		parts = append(parts, fmt.Sprintf("NICs of %v in the LAN and %v to the WAN", cl.NIC, cl.WANNIC))
	} else if cl.WANNIC > 0 {
		parts = append(parts, fmt.Sprintf("NICs of %v to the WAN", cl.WANNIC))
	} else if cl.NIC > 0 {
		parts = append(parts, fmt.Sprintf("NICs of %v", cl.NIC))
	}
	for _, cl := range c.Clusters {
		for _, n := range slices.Sorted(maps.Keys(cl.SlowNIC)) {
			parts = append(parts, fmt.Sprintf("%s%d of %v", cl.Name, n, cl.SlowNIC[n]))
		}
	}
	if c.Kills != (Kills{}) {
		parts = append(parts, "kill "+c.Kills.String())
	}
	return strings.Join(parts, ", ")
}

// shape is the sizes of the clusters, as ParseClusters takes them.
func (c *Case) shape() string {
	var sizes []string
	alike := true
	for _, cl := range c.Clusters {
		sizes = append(sizes, strconv.Itoa(cl.Nodes))
		alike = alike && cl.Nodes == c.Clusters[0].Nodes
	}
	if alike && len(sizes) > 1 {
		return fmt.Sprintf("%dx%s", len(sizes), sizes[0])
	}
	return strings.Join(sizes, ",")
}
