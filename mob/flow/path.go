package flow

import "time"

// Path measures the round trips to a peer, and the time that messages from it wait in queues. A ping
// contains the time of its sender. The clocks differ by an unknown amount, but the time that a ping takes
// longer than the fastest one is the queue before it. The zero Path has seen no ping.
type Path struct {
	Queue time.Duration // that the last ping waited
	RTT   time.Duration // last round trip
	Least time.Duration // shortest round trip, 0 before the first

	base  time.Duration // least difference of the clocks seen
	seen  time.Time     // when base was corrected for drift
	known bool
}

// clockDrift is the rate at which two clocks may part, per unit of time.
const clockDrift = 200e-6

// Pinged records a ping. diff is the difference between the own clock and the time in the ping.
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

// Answered records the round trip of a ping.
func (p *Path) Answered(d time.Duration) {
	p.RTT = d
	if p.Least == 0 || d < p.Least {
		p.Least = d
	}
}

// PingNonce returns the time in a ping: microseconds since the node started, at least 1.
func PingNonce(started, now time.Time) uint64 {
	return uint64((now.Sub(started) + time.Microsecond) / time.Microsecond)
}

// SincePing returns the difference between the own clock and the time in a ping, 0 if the nonce is not a
// time. For a nonce of the node itself, that is the round trip.
func SincePing(started, now time.Time, nonce uint64) time.Duration {
	const century = 1 << 52 // microseconds
	if nonce > century {
		return 0
	}
	return now.Sub(started) + time.Microsecond - time.Duration(nonce)*time.Microsecond
}
