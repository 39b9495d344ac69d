package swarm

import (
	"time"

	"github.com/mobgrid/mob/peer/payload"
)

// rates computes the mean rates of the last few seconds, from samples in a ring. It is
// not safe for concurrent use.
type rates struct {
	at    [samples]time.Time
	total [samples]payload.Traffic
	n     int // samples so far
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
	if r.n > 0 && now.Sub(r.at[(r.n-1)%samples]) < sampleInterval {
		return false
	}
	r.at[r.n%samples], r.total[r.n%samples] = now, total
	r.n++
	return true
}

// rate returns the mean rate since the oldest sample, in bytes per second.
func (r *rates) rate(now time.Time, total payload.Traffic) payload.Traffic {
	if r.n == 0 {
		return payload.Traffic{}
	}
	oldest := 0
	if r.n > samples {
		oldest = r.n % samples
	}
	dt := now.Sub(r.at[oldest])
	if dt < minInterval {
		return payload.Traffic{}
	}
	rate := func(from, to int64) int64 { return int64(float64(to-from) / dt.Seconds()) }
	from := r.total[oldest]
	t := payload.Traffic{
		WANIn:  rate(from.WANIn, total.WANIn),
		LANIn:  rate(from.LANIn, total.LANIn),
		WANOut: rate(from.WANOut, total.WANOut),
		LANOut: rate(from.LANOut, total.LANOut),
	}
	for i := range t.Near {
		t.Near[i].In = rate(from.Near[i].In, total.Near[i].In)
		t.Near[i].Out = rate(from.Near[i].Out, total.Near[i].Out)
	}
	return t
}
