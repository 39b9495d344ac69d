package conduct

import "time"

// Answers estimates the time of answers from a mean and a mean deviation, as TCP does for its
// retransmissions (RFC 6298). The zero value has seen none.
type Answers struct{ mean, deviation time.Duration }

// Add records the time of an answer.
func (a *Answers) Add(d time.Duration) {
	if a.mean == 0 {
		a.mean, a.deviation = d, d/2
		return
	}
	a.deviation += ((d - a.mean).Abs() - a.deviation) / 4
	a.mean += (d - a.mean) / 8
}

// Most returns the mean plus four deviations, 0 if there was no answer.
func (a *Answers) Most() time.Duration { return a.mean + 4*a.deviation }
