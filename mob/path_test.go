package mob

import (
	"math"
	"testing"
	"time"
)

// TestPathSeesQueues wants the queue to be what a ping took longer than the fastest, whatever the
// clocks' difference. Clocks that part slowly are no queue.
func TestPathSeesQueues(t *testing.T) {
	const ms = time.Millisecond
	for _, apart := range []time.Duration{-time.Hour, 0, 3 * time.Second} {
		var p path
		now := time.Unix(1, 0)
		for i, c := range []struct{ took, queue time.Duration }{
			{50 * ms, 0}, {80 * ms, 30 * ms}, {20 * ms, 0}, {45 * ms, 25 * ms},
		} {
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

func TestPingNonce(t *testing.T) {
	started := time.Unix(1000, 0)
	sent := started.Add(3 * time.Second)
	if n := pingNonce(started, started); n == 0 {
		t.Error("the first ping has no time")
	}
	if d := sincePing(started, sent.Add(5*time.Millisecond), pingNonce(started, sent)); d != 5*time.Millisecond {
		t.Errorf("a ping that took 5 ms: %v", d)
	}
	for _, n := range []uint64{1 << 53, math.MaxUint64} {
		if d := sincePing(started, sent, n); d != 0 {
			t.Errorf("nonce %d: %v", n, d)
		}
	}
}
