package bench

import (
	"fmt"
	"math/rand/v2"

	"github.com/mobgrid/mob/mob/plan"
)

// The tree of switches that plans are compared on: a core, sites, and switches of hosts in each.
const (
	planSites    = 10
	planSwitches = 2  // of a site
	planHosts    = 20 // of a switch
	// PlanNodes is the number of hosts in it.
	PlanNodes = planSites * planSwitches * planHosts
)

// PlanModels lists how the links of that tree draw their rates, in Mbit/s, as in Takahashi et al.,
// A stable broadcast algorithm, 2008, section 4.1:
//
//	low       500 to 1000
//	high      100 to 1000
//	mixed     1000, and one link of five 100
//	clusters  100 to 1000 between switches, 1000 at hosts
func PlanModels() []string { return []string{"low", "high", "mixed", "clusters"} }

// drawRate draws the rate of a link between switches, or of one to a host.
func drawRate(model string, rng *rand.Rand, switches bool) float64 {
	const mbit = 1e6 / 8
	switch x := rng.Float64(); {
	case model == "low":
		return (500 + 500*x) * mbit
	case model == "high", model == "clusters" && switches:
		return (100 + 900*x) * mbit
	case model == "mixed" && x < 0.2:
		return 100 * mbit
	default:
		return 1000 * mbit
	}
}

// drawPlanTopology makes the tree with rates of a model, the same both ways if it is symmetric.
func drawPlanTopology(model string, symmetric bool, rng *rand.Rand) *plan.Topology {
	t := new(plan.Topology)
	link := func(a, b string, switches bool) {
		l := plan.Link{A: a, B: b, AB: drawRate(model, rng, switches)}
		if l.BA = l.AB; !symmetric {
			l.BA = drawRate(model, rng, switches)
		}
		t.Links = append(t.Links, l)
	}
	t.Switches = []string{"core"}
	for i := range planSites {
		site := fmt.Sprintf("s%d", i)
		link("core", site, true)
		for k := range planSwitches {
			rack := fmt.Sprintf("%s/r%d", site, k)
			link(site, rack, true)
			for range planHosts {
				name := fmt.Sprintf("n%d", len(t.Hosts))
				t.Hosts = append(t.Hosts, plan.Host{Name: name, Cluster: rack})
				link(rack, name, false)
			}
		}
	}
	return t
}
