package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/mobgrid/mob/interop/netns"
	"github.com/mobgrid/mob/mob/plan"
)

// Topology describes the grid to a planner: its hosts have the names of nodes, such as B2, and links
// and interfaces the nominal rates, multiplied by share, the part that is payload. Plans for a scenario
// whose links change, or are slow, are made for what they would be otherwise.
func (c *Case) Topology(share float64) *plan.Topology {
	t := new(plan.Topology)
	for i, cl := range c.Clusters {
		for n := range cl.Nodes {
			nic := share * float64(cl.NodeNIC(n))
			if cl.WANNIC > 0 {
				nic = share * float64(cl.WANNIC)
			}
			t.Hosts = append(t.Hosts, plan.Host{Name: Receiver{cl.Name, n}.String(), Cluster: cl.Path(n), Send: nic, Receive: nic})
		}
		for k := range cl.Racks {
			if r := share * float64(cl.Uplink); r > 0 {
				t.Links = append(t.Links, plan.Link{A: cl.RackName(k), B: cl.Name, AB: r, BA: r})
			}
		}
		for _, other := range c.Clusters[i+1:] {
			r := share * float64(c.nominal().Rate(cl.Name, other.Name))
			t.Links = append(t.Links, plan.Link{A: cl.Name, B: other.Name, AB: r, BA: r})
		}
	}
	return t
}

// nominal returns the links that plans are made for.
func (c *Case) nominal() netns.Links {
	if c.Nominal != nil {
		return *c.Nominal
	}
	links, _ := c.Scenario(0)
	return links
}

// shuffle has a planner know nothing of clusters: hosts are at one switch, and have each other's names,
// except for the source. So a chain is in no order.
func shuffle(t *plan.Topology, seed uint64) (names map[string]string) {
	rng := rand.New(rand.NewPCG(seed, 0x73687566))
	names = map[string]string{}
	order := rng.Perm(len(t.Hosts) - 1)
	shuffled := &plan.Topology{Switches: []string{"net"}}
	for i, h := range t.Hosts {
		name := t.Hosts[0].Name
		if i > 0 {
			name = t.Hosts[1+order[i-1]].Name
		}
		names[h.Name] = name
		h.Name, h.Cluster = name, ""
		shuffled.Hosts = append(shuffled.Hosts, h)
		shuffled.Links = append(shuffled.Links, plan.Link{A: name, B: "net", AB: h.Send, BA: h.Receive})
	}
	*t = *shuffled
	return names
}

// writeTopology writes a TOPOLOGY.toml.
func writeTopology(t *plan.Topology) string {
	var b strings.Builder
	rate := func(key string, bytes float64) {
		if bytes > 0 {
			fmt.Fprintf(&b, "%s = \"%.0fB\"\n", key, bytes)
		}
	}
	for _, h := range t.Hosts {
		fmt.Fprintf(&b, "[[host]]\nname = %q\n", h.Name)
		if h.Cluster != "" {
			fmt.Fprintf(&b, "cluster = %q\n", h.Cluster)
		}
		rate("send", h.Send)
		rate("receive", h.Receive)
	}
	for _, s := range t.Switches {
		fmt.Fprintf(&b, "[[switch]]\nname = %q\n", s)
	}
	for _, l := range t.Links {
		fmt.Fprintf(&b, "[[link]]\na = %q\nb = %q\n", l.A, l.B)
		rate("ab", l.AB)
		rate("ba", l.BA)
	}
	return b.String()
}
