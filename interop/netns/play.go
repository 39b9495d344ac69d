package netns

import (
	"context"
	"fmt"
	"time"
)

// Play runs a scenario on the grid: it sets all rates of time zero at once and then each change at its moment, counted from the
// call. It returns nil when no change is left or when the context ends, which is how an endless scenario is meant to stop; the
// last rates stay. An error means that a rate could not be set. One Play at a time.
func (g *Grid) Play(ctx context.Context, s Scenario) error {
	start := time.Now()
	var now time.Duration
	var current Links
	for {
		links, until := s.Rates(now)
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
