package mob

import (
	"math"
	"time"
)

// meter measures the rate of a peer over the time in which it owed bytes, and forgets with a
// time constant. The zero meter has measured nothing.
type meter struct {
	bytes, busy float64 // decayed sums: bytes, and seconds
	last        time.Time
}

// meterMemory is the time constant in seconds: long enough to average over bursts, short
// enough to follow a link that changes every few seconds.
const meterMemory = 1.0

// start marks the moment from which the peer owes bytes.
func (m *meter) start(now time.Time) { m.last = now }

// add counts bytes that arrived now.
func (m *meter) add(now time.Time, n int) {
	dt := max(now.Sub(m.last).Seconds(), 0)
	keep := math.Exp(-dt / meterMemory)
	m.bytes = m.bytes*keep + float64(n)
	m.busy = m.busy*keep + dt
	m.last = now
}

// rate returns bytes per second, 0 before anything has arrived.
func (m *meter) rate() float64 {
	if m.bytes == 0 {
		return 0
	}
	return m.bytes / max(m.busy, 1e-6)
}
