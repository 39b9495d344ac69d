package flow

import (
	"math"
	"testing"
	"time"
)

// TestPathSeesQueues checks that the queue is the time that a ping took in addition to the fastest,
// whatever the clocks' difference. Clock drift is not a queue.
func TestPathSeesQueues(t *testing.T) {
	const ms = time.Millisecond
	for _, apart := range []time.Duration{-time.Hour, 0, 3 * time.Second} {
		var p Path
		now := time.Unix(1, 0)
		for i, c := range []struct{ took, queue time.Duration }{
			{50 * ms, 0}, {80 * ms, 30 * ms}, {20 * ms, 0}, {45 * ms, 25 * ms},
		} {
			p.Pinged(now, apart+c.took)
			if p.Queue != c.queue {
				t.Errorf("clocks %v apart, ping %d: a queue of %v, want %v", apart, i, p.Queue, c.queue)
			}
		}
		for range 1000 {
			now = now.Add(time.Second)
			apart += 100 * time.Microsecond
			p.Pinged(now, apart+20*ms)
		}
		if p.Queue > ms {
			t.Errorf("a queue of %v after the clocks parted", p.Queue)
		}
	}
}

func TestPingNonce(t *testing.T) {
	started := time.Unix(1000, 0)
	sent := started.Add(3 * time.Second)
	if n := PingNonce(started, started); n == 0 {
		t.Error("the first ping has no time")
	}
	if d := SincePing(started, sent.Add(5*time.Millisecond), PingNonce(started, sent)); d != 5*time.Millisecond {
		t.Errorf("a ping that took 5 ms: %v", d)
	}
	for _, n := range []uint64{1 << 53, math.MaxUint64} {
		if d := SincePing(started, sent, n); d != 0 {
			t.Errorf("nonce %d: %v", n, d)
		}
	}
}
