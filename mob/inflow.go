package mob

import (
	"math"
	"time"
)

// inflow measures how fast the cluster gets pieces that none of its members had, as far as the
// node knows, and forgets with a time constant.
type inflow struct {
	// lacking is how many pieces no member of the cluster has.
	lacking int

	count       float64 // decayed: the pieces that came
	first, last time.Time
}

// inflowMemory is the time constant, in seconds.
const inflowMemory = 0.5

// add notes that the cluster has one more piece.
func (f *inflow) add(now time.Time) {
	if f.first.IsZero() {
		f.first = now
	}
	f.lacking--
	f.count = f.count*math.Exp(-now.Sub(f.last).Seconds()/inflowMemory) + 1
	f.last = now
}

// interval returns the seconds between two pieces, 0 while that is not known. It grows while
// no piece comes.
func (f *inflow) interval(now time.Time) float64 {
	if f.count == 0 || now.Sub(f.first).Seconds() < 2*inflowMemory {
		return 0
	}
	return max(inflowMemory/f.count, now.Sub(f.last).Seconds())
}
