package mob

import (
	"math"
	"testing"
	"time"
)

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
