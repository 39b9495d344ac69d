package sim

import "time"

// pipe is a first-in first-out server with a rate: a link, or a NIC.
type pipe struct {
	rate  Rate
	free  time.Duration // when it will have sent what is queued
	busy  time.Duration
	bytes int64
}

// send queues n bytes now, and returns when the last of them is out.
func (p *pipe) send(now time.Duration, n int) time.Duration {
	start := max(now, p.free)
	p.free = p.rate.after(start, float64(n))
	p.busy += p.free - start
	p.bytes += int64(n)
	return p.free
}
