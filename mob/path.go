package mob

import "time"

// path measures how long messages queue on their way from a peer. A ping holds its sender's
// time. The clocks of the two differ by an unknown amount, but by how much longer than the
// fastest a ping takes is the queue before it. The zero path has seen no ping.
type path struct {
	queue time.Duration // how long the last ping waited
	rtt   time.Duration // the last round trip

	base  time.Duration // the least difference of the clocks seen
	seen  time.Time     // when base was corrected for drift
	known bool
}

// clockDrift is how fast two clocks may part, per unit of time.
const clockDrift = 200e-6

// pinged takes in a ping. diff is by how much the own clock was ahead of the time in it.
func (p *path) pinged(now time.Time, diff time.Duration) {
	if !p.known {
		p.base, p.known = diff, true
	} else {
		p.base += time.Duration(float64(now.Sub(p.seen)) * clockDrift)
	}
	p.seen = now
	p.base = min(p.base, diff)
	p.queue = diff - p.base
}

// pingNonce is the time in a ping: microseconds since the node started, and never 0.
func pingNonce(started, now time.Time) uint64 {
	return uint64((now.Sub(started) + time.Microsecond) / time.Microsecond)
}

// sincePing returns by how much the own clock is ahead of the time in a ping, 0 if the nonce is
// no time. For the own nonce that is the round trip.
func sincePing(started, now time.Time, nonce uint64) time.Duration {
	const century = 1 << 52 // microseconds
	if nonce > century {
		return 0
	}
	return now.Sub(started) + time.Microsecond - time.Duration(nonce)*time.Microsecond
}
