package swarm

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/peer/transport"
)

func TestLossMeter(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name   string
		min    time.Duration
		rtt    []time.Duration // at the end of each interval, in turn
		lost   []uint64        // in each interval, in turn
		lossy  bool
		within int // intervals
	}{
		{"loss at short round trips", 60 * ms, []time.Duration{63 * ms}, []uint64{1}, true, 4},
		{"loss now and then", 60 * ms, []time.Duration{63 * ms}, []uint64{0, 0, 0, 0, 1}, true, 12},
		{"loss from a full queue", 60 * ms, []time.Duration{300 * ms}, []uint64{3}, false, 50},
		{"a queue that drains after its losses", 60 * ms, []time.Duration{300 * ms, 62 * ms}, []uint64{3}, false, 50},
		{"mostly from a full queue", 60 * ms, []time.Duration{300 * ms, 300 * ms, 61 * ms, 61 * ms}, []uint64{1}, false, 50},
		{"no loss", 60 * ms, []time.Duration{61 * ms}, []uint64{0}, false, 50},
		{"a short path", 2 * ms, []time.Duration{2 * ms}, []uint64{5}, false, 50},
		{"an unknown path", 0, []time.Duration{0}, []uint64{5}, false, 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m lossMeter
			now, p := time.Unix(1, 0), transport.Path{MinRTT: c.min, RTT: c.min}
			m.add(now, p)
			found := false
			for i := range c.within {
				now = now.Add(lossInterval)
				p.RTT, p.Lost = c.rtt[i%len(c.rtt)], p.Lost+c.lost[i%len(c.lost)]
				found = m.add(now, p) || found
			}
			if found != c.lossy {
				t.Errorf("lossy: %v, want %v", found, c.lossy)
			}
		})
	}
}

// Looking more often does not count one loss twice.
func TestLossMeterCountsIntervals(t *testing.T) {
	var m lossMeter
	now, p := time.Unix(1, 0), transport.Path{MinRTT: 60 * time.Millisecond, RTT: 60 * time.Millisecond}
	p.RTT *= 3
	for i := range 5 { // a full queue
		p.Lost++
		m.add(now.Add(time.Duration(i)*lossInterval), p)
	}
	now, p.RTT = now.Add(5*lossInterval), p.MinRTT
	for i := range 30 {
		p.Lost++
		if m.add(now.Add(time.Duration(i)*time.Millisecond), p) {
			t.Fatalf("lossy after %d ms", i)
		}
	}
}
