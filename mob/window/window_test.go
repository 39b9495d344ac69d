package window

import (
	"testing"
	"time"
)

// TestCrew wants a member to join the crew of a link whose queue stays short, not for a
// moment's sake, and to leave it when the queue is long.
func TestCrew(t *testing.T) {
	const short, fair, long = 10 * time.Millisecond, 80 * time.Millisecond, 180 * time.Millisecond
	w := New(Limits{Queue: 200 * time.Millisecond, MinBlock: 16 << 10, Max: 16 << 20})
	needed := true
	see := func(queues ...time.Duration) int {
		for _, q := range queues {
			w.Watch(q, 1, func() bool { return needed })
		}
		return int(w.Crew)
	}
	if n := see(short, short, fair, short, short, long, short, short); n != 1 {
		t.Errorf("a crew of %d at a link whose queue was short for moments", n)
	}
	needed = false
	if n := see(short, short); n != 1 {
		t.Errorf("a crew of %d with nothing to ask for", n)
	}
	needed = true
	if n := see(short, short, short); n < 3 {
		t.Errorf("a crew of %d at a link whose queue stays short", n)
	}
	if n := see(long, long, long, long, long, long, long); n != 1 {
		t.Errorf("a crew of %d at a link whose queue is long", n)
	}
}

// TestSize has a window grow until a queue is seen, keep the queue that is aimed at, and
// stay within its limits whatever is measured.
func TestSize(t *testing.T) {
	l := Limits{Queue: 200 * time.Millisecond, MinBlock: 16 << 10, Max: 1 << 20}
	const rate, trip = 3e6, 2 * time.Millisecond // of the link
	w := New(l)
	for range 500 {
		queue := time.Duration((w.Size/rate - trip.Seconds()) * 1e9)
		w.Arrived(Sample{
			Bytes: l.MinBlock, Held: int(w.Size), Block: l.MinBlock, Mates: 4, Latency: trip + max(queue, 0), Queue: max(queue, 0),
		})
	}
	if inQueue, want := w.Size-rate*trip.Seconds(), mobQueue/4.*float64(l.MinBlock)+rate*0.04; inQueue < 0.9*want || inQueue > 1.1*want {
		t.Errorf("%.0f bytes in the queue, want %.0f", inQueue, want)
	}
	for range 100 {
		w.Arrived(Sample{Bytes: l.MinBlock, Held: int(w.Size), Block: l.MinBlock, Mates: 4, Latency: time.Hour, Queue: time.Hour})
	}
	if w.Size < float64(l.MinBlock) {
		t.Errorf("a window of %.0f bytes, less than a block", w.Size)
	}
	for range 1000 {
		w.Arrived(Sample{Bytes: l.MinBlock, Held: int(w.Size), Block: l.MinBlock, Mates: 4, Latency: trip})
	}
	if w.Size > float64(l.Max) {
		t.Errorf("a window of %.0f bytes, more than its limit", w.Size)
	}
}
