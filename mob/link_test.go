package mob

import (
	"testing"
	"time"
)

// TestCrew wants a member to join the crew of a link whose queue stays short, not for a
// moment's sake, and to leave it when the queue is long.
func TestCrew(t *testing.T) {
	const short, fair, long = 10 * time.Millisecond, 80 * time.Millisecond, 180 * time.Millisecond
	tuning := DefaultTuning()
	l := newLink(&tuning)
	needed := true
	see := func(queues ...time.Duration) int {
		for _, q := range queues {
			l.watch(&tuning, q, 1, func() bool { return needed })
		}
		return int(l.crew)
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
