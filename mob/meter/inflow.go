package meter

import (
	"math"
	"time"
)

// Inflow measures how quickly pieces come that nobody of the cluster had, as far
// as the node knows, forgetting with a time constant.
type Inflow struct {
	// Lacking is how many pieces nobody of the cluster has.
	Lacking int

	count       float64 // decayed: those that came
	first, last time.Time
}

// inflowMemory is the time constant, in seconds.
const inflowMemory = 0.5

// Came notes that the cluster has one more piece.
func (f *Inflow) Came(now time.Time) {
	if f.first.IsZero() {
		f.first = now
	}
	f.Lacking--
	f.count = f.count*math.Exp(-now.Sub(f.last).Seconds()/inflowMemory) + 1
	f.last = now
}

// Pause is the time between two pieces, in seconds, 0 while it is not known. No
// piece for longer is a longer pause.
func (f *Inflow) Pause(now time.Time) float64 {
	if f.count == 0 || now.Sub(f.first).Seconds() < 2*inflowMemory {
		return 0
	}
	return max(inflowMemory/f.count, now.Sub(f.last).Seconds())
}
