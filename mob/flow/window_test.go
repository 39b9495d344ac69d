package flow

import (
	"testing"
	"time"
)

// TestActive checks that more members become active at a link whose queue stays short, and fewer when
// it is long.
func TestActive(t *testing.T) {
	const short, fair, long = 10 * time.Millisecond, 80 * time.Millisecond, 180 * time.Millisecond
	w := NewWindow(&Limits{Queue: 200 * time.Millisecond, MinBlock: 16 << 10, MaxWindow: 16 << 20})
	needed := true
	see := func(queues ...time.Duration) int {
		for _, q := range queues {
			w.AdjustActive(q, 1, func() bool { return needed })
		}
		return int(w.Active)
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

// TestWindowSize checks that a window grows until there is a queue, keeps the queue that is aimed at,
// and stays within its limits.
func TestWindowSize(t *testing.T) {
	l := &Limits{Queue: 200 * time.Millisecond, MinBlock: 16 << 10, MaxWindow: 1 << 20}
	const rate, trip = 3e6, 2 * time.Millisecond // of the link
	w := NewWindow(l)
	see := func(latency, queue time.Duration) {
		w.arrived(sample{
			bytes:   l.MinBlock,
			held:    int(w.Size),
			block:   l.MinBlock,
			active:  4,
			latency: latency,
			queue:   queue,
		})
	}
	for range 500 {
		queue := time.Duration((w.Size/rate - trip.Seconds()) * 1e9)
		see(trip+max(queue, 0), max(queue, 0))
	}
	inQueue, want := w.Size-rate*trip.Seconds(), clusterQueue/4.*float64(l.MinBlock)+rate*0.04
	if inQueue < 0.9*want || inQueue > 1.1*want {
		t.Errorf("%.0f bytes in the queue, want %.0f", inQueue, want)
	}
	for range 100 {
		see(time.Hour, time.Hour)
	}
	if w.Size < float64(l.MinBlock) {
		t.Errorf("a window of %.0f bytes, less than a block", w.Size)
	}
	for range 1000 {
		see(trip, 0)
	}
	if w.Size > float64(l.MaxWindow) {
		t.Errorf("a window of %.0f bytes, more than its limit", w.Size)
	}
}

// TestWindowOfSlowLink checks that a window keeps little in the queue of a slow link, where four
// members would fill 128 KiB otherwise.
func TestWindowOfSlowLink(t *testing.T) {
	l := &Limits{Queue: 200 * time.Millisecond, MinBlock: 16 << 10, MaxWindow: 16 << 20}
	const rate = 187.5e3 / 4 // of the link, for each member
	w := NewWindow(l)
	for range 500 {
		queue := time.Duration(w.Size / rate * 1e9)
		w.arrived(sample{
			bytes: l.MinBlock, held: int(w.Size), block: l.MinBlock, active: 4, latency: queue, trip: time.Millisecond, queue: queue,
		})
	}
	if w.Size > 1.1*float64(l.MinBlock) {
		t.Errorf("a window of %.0f bytes", w.Size)
	}
}

// TestWindowAfterLateBlocks checks that a window doubles again after late blocks at the start, until
// there is a queue.
func TestWindowAfterLateBlocks(t *testing.T) {
	l := &Limits{Queue: 200 * time.Millisecond, MinBlock: 16 << 10, MaxWindow: 16 << 20}
	const trip, long = 100 * time.Millisecond, 90 * time.Millisecond
	w := NewWindow(l)
	round := func(queue time.Duration) (growth float64) {
		before := w.Size
		for got := 0; got < int(before); got += l.MinBlock {
			w.arrived(sample{
				bytes:   l.MinBlock,
				held:    int(w.Size),
				block:   l.MinBlock,
				active:  4,
				latency: trip + queue,
				trip:    trip,
				queue:   queue,
			})
		}
		return w.Size / before
	}
	w.arrived(sample{
		bytes: l.MinBlock, held: int(w.Size), block: l.MinBlock, active: 4, latency: trip + long, trip: trip, queue: long,
	})
	round(0)
	for range 3 {
		if growth := round(0); growth < 1.7 {
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

// TestWindowOfNearLink checks that the window of a near link does not double again after late blocks,
// whose requests waited behind traffic in the other direction.
func TestWindowOfNearLink(t *testing.T) {
	l := &Limits{Queue: 200 * time.Millisecond, MinBlock: 16 << 10, MaxWindow: 16 << 20}
	next := sample{
		bytes: l.MinBlock, block: l.MinBlock, active: 4, latency: 100 * time.Millisecond, trip: 2 * time.Millisecond,
	}
	w := NewWindow(l)
	arrive := func(queue time.Duration) {
		next.held, next.queue = int(w.Size), queue
		w.arrived(next)
	}
	arrive(90 * time.Millisecond)
	for range 3 {
		before := w.Size
		for got := 0; got < int(before); got += l.MinBlock {
			arrive(0)
		}
		if growth := w.Size / before; growth > 1.8 {
			t.Errorf("a window grew by %.2f while one of its size arrived", growth)
		}
	}
}
