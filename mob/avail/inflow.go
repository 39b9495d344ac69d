package avail

import (
	"math"
	"time"
)

// Inflow measures the rate at which a group gets pieces that none of its members had, as an exponential mean.
type Inflow struct {
	Missing int // pieces that no member of the group has

	count       float64 // of pieces, decayed
	first, last time.Time
}

// inflowMemory is the time constant, in seconds.
const inflowMemory = 0.5

// Add records that the group has one more piece.
func (f *Inflow) Add(now time.Time) {
	if f.first.IsZero() {
		f.first = now
	}
	f.Missing--
	f.count = f.count*math.Exp(-now.Sub(f.last).Seconds()/inflowMemory) + 1
	f.last = now
}

// Left returns the time in seconds in which the group gets the missing pieces at the present rate; ok is
// false while it is unknown. It grows while no piece comes.
func (f *Inflow) Left(now time.Time) (seconds float64, ok bool) {
	if f.count == 0 || now.Sub(f.first).Seconds() < 2*inflowMemory {
		return 0, false
	}
	return float64(f.Missing) * max(inflowMemory/f.count, now.Sub(f.last).Seconds()), true
}
