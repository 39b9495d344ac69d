package mob

import (
	"testing"
	"time"
)

// TestActive wants more active members at a link whose queue stays short, not for a moment's
// sake, and fewer when the queue is long.
func TestActive(t *testing.T) {
	const short, fair, long = 10 * time.Millisecond, 80 * time.Millisecond, 180 * time.Millisecond
	w := newWindow(windowLimits{queue: 200 * time.Millisecond, minBlock: 16 << 10, max: 16 << 20})
	needed := true
	see := func(queues ...time.Duration) int {
		for _, q := range queues {
			w.adjustActive(q, 1, func() bool { return needed })
		}
		return int(w.active)
	}
	if n := see(short, short, fair, short, short, long, short, short); n != 1 {
		t.Errorf("%d are active at a link whose queue was short for moments", n)
	}
	needed = false
	if n := see(short, short); n != 1 {
		t.Errorf("%d are active with nothing to ask for", n)
	}
	needed = true
	if n := see(short, short, short); n < 3 {
		t.Errorf("%d are active at a link whose queue stays short", n)
	}
	if n := see(long, long, long, long, long, long, long); n != 1 {
		t.Errorf("%d are active at a link whose queue is long", n)
	}
}

// TestWindowSize has a window grow until a queue is seen, keep the queue that is aimed at, and
// stay within its limits whatever is measured.
func TestWindowSize(t *testing.T) {
	l := windowLimits{queue: 200 * time.Millisecond, minBlock: 16 << 10, max: 1 << 20}
	const rate, trip = 3e6, 2 * time.Millisecond // of the link
	w := newWindow(l)
	sample := func(latency, queue time.Duration) {
		w.arrived(windowSample{
			bytes:   l.minBlock,
			held:    int(w.size),
			block:   l.minBlock,
			active:  4,
			latency: latency,
			queue:   queue,
		})
	}
	for range 500 {
		queue := time.Duration((w.size/rate - trip.Seconds()) * 1e9)
		sample(trip+max(queue, 0), max(queue, 0))
	}
	inQueue, want := w.size-rate*trip.Seconds(), clusterQueue/4.*float64(l.minBlock)+rate*0.04
	if inQueue < 0.9*want || inQueue > 1.1*want {
		t.Errorf("%.0f bytes in the queue, want %.0f", inQueue, want)
	}
	for range 100 {
		sample(time.Hour, time.Hour)
	}
	if w.size < float64(l.minBlock) {
		t.Errorf("a window of %.0f bytes, less than a block", w.size)
	}
	for range 1000 {
		sample(trip, 0)
	}
	if w.size > float64(l.max) {
		t.Errorf("a window of %.0f bytes, more than its limit", w.size)
	}
}

// TestWindowOfSlowLink has a window keep little in the queue of a slow link, where all four members would
// fill 128 KiB otherwise.
func TestWindowOfSlowLink(t *testing.T) {
	l := windowLimits{queue: 200 * time.Millisecond, minBlock: 16 << 10, max: 16 << 20}
	const rate = 187.5e3 / 4 // of the link, for each member
	w := newWindow(l)
	for range 500 {
		queue := time.Duration(w.size / rate * 1e9)
		w.arrived(windowSample{
			bytes: l.minBlock, held: int(w.size), block: l.minBlock, active: 4, latency: queue, trip: time.Millisecond, queue: queue,
		})
	}
	if w.size > 1.1*float64(l.minBlock) {
		t.Errorf("a window of %.0f bytes", w.size)
	}
}

// TestWindowAfterLateBlocks has a window double again after blocks that were late at the start, until
// there is a queue, and not after that.
func TestWindowAfterLateBlocks(t *testing.T) {
	l := windowLimits{queue: 200 * time.Millisecond, minBlock: 16 << 10, max: 16 << 20}
	const trip, long = 100 * time.Millisecond, 90 * time.Millisecond
	w := newWindow(l)
	round := func(queue time.Duration) (growth float64) {
		before := w.size
		for got := 0; got < int(before); got += l.minBlock {
			w.arrived(windowSample{
				bytes:   l.minBlock,
				held:    int(w.size),
				block:   l.minBlock,
				active:  4,
				latency: trip + queue,
				trip:    trip,
				queue:   queue,
			})
		}
		return w.size / before
	}
	w.arrived(windowSample{
		bytes: l.minBlock, held: int(w.size), block: l.minBlock, active: 4, latency: trip + long, trip: trip, queue: long,
	})
	round(0)
	for range 3 {
		if growth := round(0); growth < 1.8 {
			t.Errorf("a window grew by %.2f in a round trip after a late block", growth)
		}
	}
	for range 5 {
		round(long)
	}
	round(0)
	if growth := round(0); growth > 1.5 {
		t.Errorf("a window grew by %.2f in a round trip after a full link", growth)
	}
}

// TestWindowOfNearLink has blocks of a near link be late since their requests wait before it, behind what goes
// the other way. Its window does not double again for that.
func TestWindowOfNearLink(t *testing.T) {
	l := windowLimits{queue: 200 * time.Millisecond, minBlock: 16 << 10, max: 16 << 20}
	sample := windowSample{
		bytes: l.minBlock, block: l.minBlock, active: 4, latency: 100 * time.Millisecond, trip: 2 * time.Millisecond,
	}
	w := newWindow(l)
	arrive := func(queue time.Duration) {
		sample.held, sample.queue = int(w.size), queue
		w.arrived(sample)
	}
	arrive(90 * time.Millisecond)
	for range 3 {
		before := w.size
		for got := 0; got < int(before); got += l.minBlock {
			arrive(0)
		}
		if growth := w.size / before; growth > 1.8 {
			t.Errorf("a window grew by %.2f while one of its size arrived", growth)
		}
	}
}
