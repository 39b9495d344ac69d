package swarm

import (
	"fmt"
	"slices"
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
		{"whatever the queue is", 60 * ms, []time.Duration{90 * ms, 95 * ms, 110 * ms, 200 * ms, 150 * ms, 100 * ms, 90 * ms, 85 * ms}, []uint64{1}, true, 16},
		{"before a queue grows", 60 * ms, []time.Duration{90 * ms, 90 * ms, 90 * ms, 200 * ms}, []uint64{1, 1, 1, 0}, true, 4},
		{"twice before a queue grows", 60 * ms, append([]time.Duration{90 * ms, 90 * ms}, slices.Repeat([]time.Duration{200 * ms}, 50)...), append([]uint64{1, 1}, make([]uint64, 50)...), false, 52},
		{"when a queue is longest", 60 * ms, []time.Duration{90 * ms, 150 * ms, 200 * ms, 250 * ms, 300 * ms}, []uint64{0, 0, 0, 0, 1}, false, 50},
		{"a queue that was longer long ago", 60 * ms, append([]time.Duration{300 * ms}, slices.Repeat([]time.Duration{90 * ms}, 199)...), append(make([]uint64, 100), slices.Repeat([]uint64{1}, 100)...), false, 200},
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
				if s, ended := m.add(now, p); ended {
					r.add(s)
				}
				found = r.lossy() || found
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
		if s, ended := m.add(start.Add(time.Duration(i)*time.Millisecond), p); ended && s.lost {
			sum++
		}
	}
	if sum != 3 {
		t.Errorf("%d intervals with losses, want 3", sum)
	}
}

// What one socket sees counts for all to a cluster, but not for peers that name none.
func TestRoutes(t *testing.T) {
	var r routes
	lost := pathSample{end: time.Unix(1, 0), none: true, lost: true}
	r.of("B").add(lost)
	r.of("").add(lost)
	if !r.of("B").lossy() || r.of("C").lossy() || r.of("").lossy() {
		t.Errorf("B is lossy: %v, C: %v, no cluster: %v", r.of("B").lossy(), r.of("C").lossy(), r.of("").lossy())
	}
	lost.end = lost.end.Add(2 * lossWindow)
	r.of("B").add(pathSample{end: lost.end})
	if !r.of("B").lossy() {
		t.Error("B is not lossy any more after nothing was lost for long")
	}
	r.of("B").add(lost)
	lost.none, lost.queue = false, time.Second
	r.of("B").add(lost)
	if r.of("B").lossy() {
		t.Error("B is lossy after a full queue that lost as much")
	}
	for i := range 2 * maxRoutes {
		r.of(fmt.Sprint(i))
	}
	if len(r.byCluster) > maxRoutes {
		t.Errorf("%d routes", len(r.byCluster))
	}
}
