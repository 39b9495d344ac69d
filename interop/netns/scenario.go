package netns

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/mobgrid/mob/mob/plan"
)

// Forever is a time that does not come.
const Forever = plan.Never

// Scenario is the rates of links over time, in steps. It returns the links at time t from the start, with
// positive rates, and the time of the next change: later than t, or Forever. Links are neither added nor
// removed. It is a pure function that may be called from any goroutine.
type Scenario func(t time.Duration) (Links, time.Duration)

// Steady is a scenario without changes.
func Steady(l Links) Scenario {
	return func(time.Duration) (Links, time.Duration) { return l, Forever }
}

// Switch is a scenario with one change, at the given time.
func Switch(before, after Links, at time.Duration) Scenario {
	return func(t time.Duration) (Links, time.Duration) {
		if t < at {
			return before, at
		}
		return after, Forever
	}
}

// SwitchAtThird is the Switch at a third of its ideal time, for size bytes from the first of the clusters.
func SwitchAtThird(before, after Links, clusters []Cluster, size int64) Scenario {
	// A change that is later by d makes the ideal time longer by less than d, or shorter. So three
	// times the time of the change exceeds the ideal time from one point on.
	early, late := time.Duration(0), max(
		IdealTime(Steady(before), clusters, size),
		IdealTime(Steady(after), clusters, size))
	for late-early > time.Microsecond {
		at := early + (late-early)/2
		if at < IdealTime(Switch(before, after, at), clusters, size)/3 {
			early = at
		} else {
			late = at
		}
	}
	return Switch(before, after, late)
}

// MayhemPeriod is the period of scenario mayhem.
const MayhemPeriod = 2 * time.Second

// Mayhem is a scenario in which each link draws a rate of 10 to 100 % of nominal at the start and
// then once every period. Draws depend only on the seed, the number of the period and the names of
// the clusters, so a run can be repeated.
func Mayhem(nominal Links, period time.Duration, seed uint64) Scenario {
	return func(t time.Duration) (Links, time.Duration) {
		n := t / period
		draw := rand.New(rand.NewPCG(seed, uint64(n)))
		rates := make(map[pair]Rate, len(nominal.rates))
		for _, p := range nominal.pairs() {
			rates[p] = nominal.rates[p] * Rate(0.1+0.9*draw.Float64())
		}
		return Links{rates: rates}, (n + 1) * period
	}
}

// Play plays a scenario on the grid: it sets all rates of time zero, and then each change at its
// time, counted from the call. It returns nil when no change is left or when ctx ends, the usual
// end of an endless scenario; the last rates stay. It fails if a rate cannot be set. There must be
// only one Play at a time.
func (g *Grid) Play(ctx context.Context, s Scenario) error {
	start := time.Now()
	var now time.Duration
	var current Links
	for {
		links, until := s(now)
		for _, p := range links.pairs() {
			r := links.rates[p]
			if r == current.rates[p] {
				continue
			}
			if err := g.SetRate(p.a, p.b, r); err != nil {
				return fmt.Errorf("netns: at %v of the scenario: %w", now, err)
			}
		}
		if until == Forever {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Until(start.Add(until))):
		}
		current, now = links, until
	}
}
