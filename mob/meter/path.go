package meter

import "time"

// Path watches how long messages are on their way from a peer. A ping holds its
// sender's time; the clocks differ by an unknown amount, but how much longer
// than at best a ping takes is the queue in front of it. The zero Path has seen none.
type Path struct {
	// Queue is how long the last ping waited on its way.
	Queue time.Duration
	// RTT is the last round trip; who measures it sets it.
	RTT time.Duration

	base  time.Duration // the least difference of the clocks seen
	seen  time.Time     // when base was corrected for drift
	known bool
}

// clockDrift is how fast two clocks may part, per unit of time.
const clockDrift = 200e-6

// Pinged notes a ping: diff is by how much the own clock was ahead of the time in it.
func (p *Path) Pinged(now time.Time, diff time.Duration) {
	if !p.known {
		p.base, p.known = diff, true
	} else {
		p.base += time.Duration(float64(now.Sub(p.seen)) * clockDrift)
	}
	p.seen = now
	p.base = min(p.base, diff)
	p.Queue = diff - p.base
}
