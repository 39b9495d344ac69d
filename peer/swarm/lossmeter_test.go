package swarm

import (
	"fmt"
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
			var r route
			now, p := time.Unix(1, 0), transport.Path{MinRTT: c.min, RTT: c.min}
			m.add(now, p)
			found := false
			for i := range c.within {
				now = now.Add(lossInterval)
				p.RTT, p.Lost = c.rtt[i%len(c.rtt)], p.Lost+c.lost[i%len(c.lost)]
				found = r.lossy(m.add(now, p)) || found
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
	start, p := time.Unix(1, 0), transport.Path{MinRTT: 60 * time.Millisecond, RTT: 60 * time.Millisecond}
	sum := 0
	for i := range 3*int(lossInterval/time.Millisecond) + 1 {
		p.Lost++
		sum += m.add(start.Add(time.Duration(i)*time.Millisecond), p)
	}
	if sum != 3 {
		t.Errorf("%d intervals with losses, want 3", sum)
	}
}

// What one socket sees counts for all to a cluster, but not for peers that name none.
func TestRoutes(t *testing.T) {
	var r routes
	r.of("B").lossy(1)
	r.of("").lossy(1)
	if !r.of("B").lossy(0) || r.of("C").lossy(0) || r.of("").lossy(0) {
		t.Errorf("B is lossy: %v, C: %v, no cluster: %v", r.of("B").lossy(0), r.of("C").lossy(0), r.of("").lossy(0))
	}
	r.of("B").lossy(-1)
	if r.of("B").lossy(0) {
		t.Error("B is lossy after a queue that lost as much")
	}
	for i := range 2 * maxRoutes {
		r.of(fmt.Sprint(i))
	}
	if len(r.byCluster) > maxRoutes {
		t.Errorf("%d routes", len(r.byCluster))
	}
}
