package swarm

import (
	"time"

	"github.com/mobgrid/mob/peer/transport"
)

const (
	// lossInterval is the least time in which losses are counted. One with losses and no queue says
	// that the path loses packets: where losses are rare, a second comes when most has been sent.
	lossInterval = 200 * time.Millisecond
	// mostFull bounds how many intervals with losses and a queue count against that.
	mostFull = 4
	// noQueue is how much longer than the shortest a round trip may be on a path without a queue,
	// besides a fourth of the shortest: hosts wait for timers, and for each other.
	noQueue = 5 * time.Millisecond
)

// lossMeter finds out whether a path loses packets without a queue, by what the kernel says of a
// socket from time to time. A sender that takes each loss for a full queue is slow there: its rate
// depends on loss and round trip, and not on the link. The zero meter has seen nothing.
type lossMeter struct {
	last  transport.Path
	at    time.Time
	lossy int // intervals with losses but no queue, less those with losses and a queue
}

// add takes in what the kernel says now, and reports whether the path loses packets without a queue.
// It says so of long paths only: on a short one a sender recovers at once.
func (m *lossMeter) add(now time.Time, p transport.Path) bool {
	if p.MinRTT < longPath {
		return false
	}
	if m.at.IsZero() {
		m.last, m.at = p, now
	}
	if now.Sub(m.at) < max(lossInterval, 2*p.MinRTT) {
		return m.lossy > 0
	}
	limit := p.MinRTT + p.MinRTT/4 + noQueue
	switch queued := max(p.RTT, m.last.RTT) > limit; {
	case p.Lost == m.last.Lost:
	case queued:
		m.lossy = max(m.lossy-1, -mostFull)
	default:
		m.lossy++
	}
	m.last, m.at = p, now
	return m.lossy > 0
}
