package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// Case is a grid, content and events, the same for every system.
type Case struct {
	// Config is the grid, without its Links: they follow the scenario. The first node of the first cluster is the source. All
	// clusters have the same NICs and uplinks.
	netns.Config
	// Scenario is the rates of the links over time, counted from the start of the
	// fetching, and Name its name.
	Scenario netns.Scenario
	Name     string
	// Nominal is the links that plans are made for. Nil: the links of the scenario at its start.
	Nominal *netns.Links
	// Size of the content, in bytes.
	Size int64
	// Kills end receivers during the fetching. Zero: none.
	Kills Kills
	// Seed of every random choice: the content, and the victims of Kills.
	Seed uint64
}

// single reports whether the grid is a single cluster. There is no WAN then, and the NICs
// of the nodes take the place of its links.
func (c *Case) single() bool { return len(c.Clusters) == 1 }

// Names lists the names of the clusters.
func (c *Case) Names() []string {
	names := make([]string, len(c.Clusters))
	for i, cl := range c.Clusters {
		names[i] = cl.Name
	}
	return names
}

// Validate returns an error for a case that cannot run.
func (c *Case) Validate() error {
	switch {
	case len(c.Clusters) == 0 || c.Clusters[0].Nodes < 1 || len(c.Receivers()) == 0:
		return fmt.Errorf("a source in the first cluster and at least one other node are needed")
	case c.Size < 1:
		return fmt.Errorf("%d bytes cannot be sent", c.Size)
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
	links, _ := c.Scenario(0)
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
	if !c.single() {
		parts = append(parts, c.Name)
	}
	if c.RTT > 0 {
		parts = append(parts, "round trip "+c.RTT.String())
	}
	if c.Loss > 0 {
		parts = append(parts, fmt.Sprintf("%.3g %% loss", 100*c.Loss))
	}
	if c.CongestionOnly {
		parts = append(parts, c.Congestion+" only")
	} else if c.Congestion != "" {
		parts = append(parts, c.Congestion)
	}
	if cl := c.Clusters[0]; cl.NIC > 0 && cl.WANNIC > 0 {
		parts = append(parts, fmt.Sprintf("NICs of %v in the LAN and %v to the WAN", cl.NIC, cl.WANNIC))
	} else if cl.WANNIC > 0 {
		parts = append(parts, fmt.Sprintf("NICs of %v to the WAN", cl.WANNIC))
	} else if cl.NIC > 0 {
		parts = append(parts, fmt.Sprintf("NICs of %v", cl.NIC))
	}
	if r := c.Clusters[0].Uplink; r > 0 {
		parts = append(parts, fmt.Sprintf("racks with uplinks of %v", r))
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

// Scale divides all rates and the size by n. Times stay as they are.
func (c *Case) Scale(n float64) {
	by := netns.Rate(n)
	scenario := c.Scenario
	c.Scenario = func(t time.Duration) (netns.Links, time.Duration) {
		l, until := scenario(t)
		return l.Divided(n), until
	}
	if c.Nominal != nil {
		nominal := c.Nominal.Divided(n)
		c.Nominal = &nominal
	}
	c.Size = int64(float64(c.Size) / n)
	for i := range c.Clusters {
		cl := &c.Clusters[i]
		cl.NIC, cl.WANNIC, cl.Uplink = cl.NIC/by, cl.WANNIC/by, cl.Uplink/by
		for k := range cl.SlowNIC {
			cl.SlowNIC[k] /= by
		}
	}
}
