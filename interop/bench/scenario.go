package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// The scenarios beside the standard ones.
const (
	steady = "steady" // given links, which do not change
	random = "random" // each link draws its rate once
)

// ScenarioNames lists the scenarios that SetScenario knows.
func ScenarioNames() []string { return append(netns.StandardNames(), random, steady) }

// SetScenario sets the case's links, for its clusters, size and seed. The standard
// scenarios have links among A, B, C and D; given links stay as they are, or go
// through mayhem. An empty name is "fast", or with given links "steady".
func (c *Case) SetScenario(name string, given *netns.Links) error {
	switch {
	case name == "" && given != nil:
		name = steady
	case name == "":
		name = "fast"
	case given != nil && name != steady && name != "mayhem":
		return fmt.Errorf("scenario %s has links of its own: with given ones use steady or mayhem", name)
	case given == nil && name == steady:
		return fmt.Errorf("scenario steady needs given links")
	}
	c.Name = name
	fast, slow := netns.Fast().Among(c.Names()...), netns.Slow().Among(c.Names()...)
	if given != nil {
		fast = given.Among(c.Names()...)
	} else if name != random && len(c.Clusters) > 4 {
		return fmt.Errorf("scenario %s has links of four clusters, not of %d: give links, or use random", name, len(c.Clusters))
	}
	source := c.Clusters[0].Name
	switch name {
	case "fast", steady:
		c.Scenario = netns.Steady(fast)
	case "slow":
		c.Scenario = netns.Steady(slow)
	case "fast-slow":
		c.Scenario = netns.SwitchAtThird(fast, slow, source, c.Size)
	case "slow-fast":
		c.Scenario = netns.SwitchAtThird(slow, fast, source, c.Size)
	case "mayhem":
		c.Scenario = netns.Mayhem(fast, netns.MayhemPeriod, c.Seed)
	case random:
		c.Scenario = netns.Steady(randomLinks(c.Names(), c.Seed))
	default:
		return fmt.Errorf("no scenario %q: use one of %s", name, strings.Join(ScenarioNames(), ", "))
	}
	return nil
}

// randomLinks joins every two clusters at 0.6 to 6 MB/s.
func randomLinks(clusters []string, seed uint64) netns.Links {
	draw := rand.New(rand.NewPCG(seed, 0x6c696e6b))
	var l netns.Links
	for i, a := range clusters {
		for _, b := range clusters[i+1:] {
			l = l.With(a, b, 6*netns.MBps*netns.Rate(0.1+0.9*draw.Float64()))
		}
	}
	return l
}

// Limit is how long a run may take: what needs twenty times the ideal time is
// slow, and what takes longer does not end. A slow node has twice its own time.
func (c *Case) Limit() time.Duration {
	limit := 20*c.Ideal() + 2*time.Minute
	for _, cl := range c.Clusters {
		for _, r := range cl.SlowNIC {
			limit = max(limit, 2*r.Time(float64(c.Size)))
		}
	}
	return limit
}
