package mob

import (
	"testing"
	"time"
)

// What a ping took longer than at best is the queue, whatever the clocks' difference,
// and clocks that part slowly are no queue.
func TestPathSeesQueues(t *testing.T) {
	const ms = time.Millisecond
	for _, apart := range []time.Duration{-time.Hour, 0, 3 * time.Second} {
		var p path
		now := time.Unix(1, 0)
		for i, c := range []struct{ took, queue time.Duration }{{50 * ms, 0}, {80 * ms, 30 * ms}, {20 * ms, 0}, {45 * ms, 25 * ms}} {
			p.pinged(now, apart+c.took)
			if p.queue != c.queue {
				t.Errorf("clocks %v apart, ping %d: a queue of %v, want %v", apart, i, p.queue, c.queue)
			}
		}
		for range 1000 {
			now = now.Add(time.Second)
			apart += 100 * time.Microsecond
			p.pinged(now, apart+20*ms)
		}
		if p.queue > ms {
			t.Errorf("a queue of %v after the clocks parted", p.queue)
		}
	}
}
