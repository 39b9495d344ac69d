package sim

import (
	"math"
	"time"
)

// Rate is a rate that changes at given times: the steps are sorted, the first begins at 0,
// the last holds for ever. An empty Rate is infinite.
type Rate []Step

// Step is a rate from a time on.
type Step struct {
	From        time.Duration
	BytesPerSec float64
}

// constant is a rate that does not change.
func constant(bytesPerSec float64) Rate { return Rate{{BytesPerSec: bytesPerSec}} }

// carried is the number of bytes that pass until a time.
func (r Rate) carried(until time.Duration) float64 {
	if len(r) == 0 {
		return math.Inf(1)
	}
	sum := 0.0
	for k, s := range r {
		if s.From >= until {
			break
		}
		end := until
		if k+1 < len(r) {
			end = min(end, r[k+1].From)
		}
		sum += s.BytesPerSec * (end - s.From).Seconds()
	}
	return sum
}

// after is the time at which n bytes have passed that begin at start.
func (r Rate) after(start time.Duration, n float64) time.Duration {
	if len(r) == 0 {
		return start
	}
	k := 0
	for k+1 < len(r) && r[k+1].From <= start {
		k++
	}
	for ; k+1 < len(r); k++ {
		room := r[k].BytesPerSec * (r[k+1].From - start).Seconds()
		if room >= n {
			break
		}
		n -= room
		start = r[k+1].From
	}
	return start + time.Duration(n/r[k].BytesPerSec*1e9)
}
