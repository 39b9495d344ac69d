package netns

import (
	"context"
	"fmt"
	"time"
)

// Play plays a scenario on the grid: it sets all rates of time zero, and then each change at its
// time, counted from the call. It returns nil when no change is left or when ctx ends, the usual
// end of an endless scenario; the last rates stay. It fails if a rate cannot be set. There must be
// only one Play at a time.
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
