// Package meter measures the rates at which a peer delivers, and at which a cluster
// gets what is new to it, and the queue on the way from a peer.
package meter

import (
	"math"
	"time"
)

// Meter measures the rate of a peer over the time in which something was asked
// of it, forgetting with a time constant. The zero Meter has measured nothing.
type Meter struct {
	bytes, busy float64 // decayed sums: bytes and seconds
	last        time.Time
}

// memory is the time constant: long enough to average over bursts, short
// enough to follow a link that changes every few seconds.
const memory = 1.0

// Start marks the moment from which the peer owes bytes.
func (m *Meter) Start(now time.Time) { m.last = now }

// Add counts bytes that arrived now.
func (m *Meter) Add(now time.Time, n int) {
	dt := max(now.Sub(m.last).Seconds(), 0)
	keep := math.Exp(-dt / memory)
	m.bytes = m.bytes*keep + float64(n)
	m.busy = m.busy*keep + dt
	m.last = now
}

// Rate is in bytes per second, 0 before anything has arrived.
func (m *Meter) Rate() float64 {
	if m.bytes == 0 {
		return 0
	}
	return m.bytes / max(m.busy, 1e-6)
}
