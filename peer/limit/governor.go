package limit

import (
	"context"
	"time"
)

const (
	// governEvery is the time between two steps of a [Governor], and shareSteps the number of steps in a second.
	governEvery = 250 * time.Millisecond
	shareSteps  = int(time.Second / governEvery)
	// movingSteps is the time that a transfer counts as moving after its last byte, in steps.
	movingSteps = 2
	// lowerShare is the part of all bytes that transfers of lower priority get, as a divisor, and leastShare its least rate.
	lowerShare = 20
	leastShare = 64 << 10
)

// A Load is what a transfer moved since its start: bytes received over the WAN, sent over the WAN, and sent over the LAN.
type Load struct {
	Priority Priority
	Starting bool // counts as moving
	Moved    [3]int64
}

// A Governor limits transfers while transfers of a higher priority move bytes in the same direction. The zero value has
// seen no transfer.
type Governor struct{ steps []map[*Buckets]Load } // of the last second, the oldest first

// Run sets the limits of the transfers that load returns, by their buckets, until ctx ends.
func (g *Governor) Run(ctx context.Context, load func() map[*Buckets]Load) {
	ticks := time.NewTicker(governEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		for b, l := range g.step(load()) {
			b.Set(l)
		}
	}
}

// step returns the limits of the transfers until the next step.
func (g *Governor) step(now map[*Buckets]Load) map[*Buckets]Limits {
	g.steps = append(g.steps[max(len(g.steps)-shareSteps, 0):], now)
	limits := make(map[*Buckets]Limits, len(now))
	for direction := range (Load{}).Moved {
		highest, sum, lower := 0, int64(0), int64(0)
		for b, l := range now {
			sum += g.moved(b, direction, shareSteps)
			if l.Starting || g.moved(b, direction, movingSteps) > 0 {
				highest = max(highest, l.Priority.level())
			}
		}
		for b, l := range now {
			if l.Priority.level() < highest && g.moved(b, direction, shareSteps) > 0 {
				lower++
			}
		}
		for b, l := range now {
			own := limits[b]
			if l.Priority.level() < highest {
				*own.rates()[direction] = Rate(max(sum/lowerShare, leastShare) / max(lower, 1))
			}
			limits[b] = own
		}
	}
	return limits
}

// moved returns the number of bytes that a transfer moved in the last steps. One that stopped counts from zero again.
func (g *Governor) moved(b *Buckets, direction, steps int) int64 {
	last := len(g.steps) - 1
	then := g.steps[max(last-steps, 0)][b] // zero for a transfer that has started since
	return max(g.steps[last][b].Moved[direction]-then.Moved[direction], 0)
}
