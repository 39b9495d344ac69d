package flow

import (
	"math"
	"time"
)

// Meter measures the rate of a peer over the time in which it owed bytes, as an exponential mean. The zero Meter is empty.
type Meter struct {
	bytes, busy float64 // decayed sums: bytes, and seconds
	last        time.Time
}

// meterMemory is the time constant in seconds: long enough to average over bursts, short
// enough to follow a link that changes every few seconds.
const meterMemory = 1.0

// Start records that the peer owes bytes now.
func (m *Meter) Start(now time.Time) { m.last = now }

// Add counts n bytes that arrived now.
func (m *Meter) Add(now time.Time, n int) {
	dt := max(now.Sub(m.last).Seconds(), 0)
	keep := math.Exp(-dt / meterMemory)
	m.bytes = m.bytes*keep + float64(n)
	m.busy = m.busy*keep + dt
	m.last = now
}

// Rate returns bytes per second, 0 before anything has arrived.
func (m *Meter) Rate() float64 {
	if m.bytes == 0 {
		return 0
	}
	return m.bytes / max(m.busy, 1e-6)
}
