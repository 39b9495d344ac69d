package swarm

import (
	"time"

	"github.com/mobgrid/mob/peer/payload"
)

// rates computes the mean rates of the last few seconds. It is not safe for concurrent use.
type rates struct{ samples []sample } // oldest first

// sample has the totals at a time.
type sample struct {
	at    time.Time
	total payload.Traffic
}

const (
	samples        = 8
	sampleInterval = 500 * time.Millisecond
	// minInterval is the least interval over which a rate is computed.
	minInterval = 50 * time.Millisecond
)

// sample stores the current totals, unless the last sample is younger than
// sampleInterval. It reports whether it did.
func (r *rates) sample(now time.Time, total payload.Traffic) bool {
	n := len(r.samples)
	if n > 0 && now.Sub(r.samples[n-1].at) < sampleInterval {
		return false
	}
	r.samples = append(r.samples[max(n+1-samples, 0):], sample{now, total})
	return true
}

// rate returns the mean rate since the oldest sample, in bytes per second.
func (r *rates) rate(now time.Time, total payload.Traffic) payload.Traffic {
	if len(r.samples) == 0 || now.Sub(r.samples[0].at) < minInterval {
		return payload.Traffic{}
	}
	seconds := now.Sub(r.samples[0].at).Seconds()
	total.Combine(&r.samples[0].total, func(to, from int64) int64 { return int64(float64(to-from) / seconds) })
	return total
}
