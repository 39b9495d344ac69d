package mob

import "time"

// answers estimates how long answers take, as TCP does for its retransmissions (RFC 6298): from a
// mean and a mean deviation of the last few. The zero value has seen none.
type answers struct{ mean, deviation time.Duration }

// add takes in how long an answer took.
func (a *answers) add(d time.Duration) {
	if a.mean == 0 {
		a.mean, a.deviation = d, d/2
		return
	}
	a.deviation += ((d - a.mean).Abs() - a.deviation) / 4
	a.mean += (d - a.mean) / 8
}

// most is how long an answer may take: hardly any takes longer.
func (a *answers) most() time.Duration { return a.mean + 4*a.deviation }
