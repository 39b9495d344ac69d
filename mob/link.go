package mob

import "time"

// window decides how many bytes to have in flight from a peer. All members of a
// mob share the link to another cluster and see the same queue there. Each keeps
// the same small number of its bytes in it (as in FAST TCP), which makes their
// parts of the link even and the queue short. Rates alone would not do: any
// split of a link, and any queue, confirms itself.
type window struct {
	size   float64 // bytes
	steady bool    // a queue was seen: the window has been large enough
}

// gain is how much of the difference a window makes up in a round trip.
const gain = 0.5

// arrived takes in that n bytes came after the time latency, of the held bytes
// that were in flight, while a byte waits in the link's queue for queue.
func (w *window) arrived(t *Tuning, n, held int, latency, queue time.Duration) {
	full := float64(held+t.MinBlock) > w.size
	part := min(float64(n)/w.size, 1)
	rate := min(float64(held), w.size) / max(latency.Seconds(), 1e-6)
	least := t.Queue / 5
	own := float64(2*t.MinBlock) + rate*least.Seconds()
	switch change := own - rate*queue.Seconds(); {
	case !w.steady && queue < least:
		if full {
			w.size += float64(n) // doubles in a round trip
		}
	case change < 0 || full:
		w.steady = true
		w.size += gain * change * part
	}
	w.size = min(max(w.size, float64(t.MinBlock)), float64(t.MaxWindow))
}

// path watches how long messages are on their way from a peer. A ping holds its
// sender's time; the clocks differ by an unknown amount, but how much longer
// than at best a ping takes is the queue in front of it.
type path struct {
	base  time.Duration // the least difference of the clocks seen
	seen  time.Time     // when base was corrected for drift
	queue time.Duration
	rtt   time.Duration // the last round trip
	known bool
}

// clockDrift is how fast two clocks may part, per unit of time.
const clockDrift = 200e-6

func (p *path) pinged(now time.Time, diff time.Duration) {
	if !p.known {
		p.base, p.seen, p.known = diff, now, true
		return
	}
	p.base += time.Duration(float64(now.Sub(p.seen)) * clockDrift)
	p.seen = now
	p.base = min(p.base, diff)
	p.queue = diff - p.base
}
