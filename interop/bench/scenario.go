package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/mobgrid/mob/interop/netns"
)

// The names of the scenarios.
const (
	fast     = "fast"
	slow     = "slow"
	fastSlow = "fast-slow" // changes after a third of its ideal time
	slowFast = "slow-fast"
	mayhem   = "mayhem" // each link draws a new rate every two seconds
	random   = "random" // each link draws its rate once
	steady   = "steady" // given links, which do not change
)

// ScenarioNames lists the scenarios of SetScenario.
func ScenarioNames() []string {
	return []string{fast, slow, fastSlow, slowFast, steady, mayhem, random}
}

// SetScenario sets the links of the case. Scenarios steady and mayhem accept given links
// instead of netns.Fast, which has clusters A to D only. The default name is
// "fast", or "steady" for given links. Clusters, Size and Seed must be set before.
func (c *Case) SetScenario(name string, given *netns.Links) error {
	switch {
	case name == "" && given != nil:
		name = steady
	case name == "":
		name = fast
	case given != nil && name != steady && name != mayhem:
		return fmt.Errorf("scenario %s has fixed links: with given ones use steady or mayhem", name)
	case given == nil && name == steady:
		return fmt.Errorf("scenario steady needs given links")
	}
	c.Name = name
	links, slowLinks := netns.Fast().Among(c.Names()...), netns.Slow().Among(c.Names()...)
	if given != nil {
		links = given.Among(c.Names()...)
	} else if name != random && len(c.Clusters) > 4 {
		return fmt.Errorf("scenario %s has links of four clusters, not of %d: give links, or use random", name, len(c.Clusters))
	}
	if name != random {
		c.Nominal = &links
	}
	switch name {
	case fast, steady:
		c.Scenario = netns.Steady(links)
	case slow:
		c.Scenario = netns.Steady(slowLinks)
	case fastSlow:
		c.Scenario = netns.SwitchAtThird(links, slowLinks, c.Clusters, c.Size)
	case slowFast:
		c.Scenario = netns.SwitchAtThird(slowLinks, links, c.Clusters, c.Size)
	case mayhem:
		c.Scenario = netns.Mayhem(links, netns.MayhemPeriod, c.Seed)
	case random:
		c.Scenario = netns.Steady(randomLinks(c.Names(), c.Seed))
	default:
		return fmt.Errorf("no scenario %q: use one of %s", name, strings.Join(ScenarioNames(), ", "))
	}
	return nil
}

// randomLinks links every two clusters at 0.6 to 6 MB/s.
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
