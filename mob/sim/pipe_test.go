package sim

import (
	"testing"
	"time"
)

func TestPipe(t *testing.T) {
	p := pipe{rate: constant(100)}
	if got := p.send(time.Second, 100); got != 2*time.Second {
		t.Errorf("first out at %v", got)
	}
	if got := p.send(1500*time.Millisecond, 100); got != 3*time.Second {
		t.Errorf("second out at %v", got)
	}
	if got := p.send(5*time.Second, 100); got != 6*time.Second || p.busy != 3*time.Second || p.bytes != 300 {
		t.Errorf("third out at %v, busy %v, %d bytes", got, p.busy, p.bytes)
	}
}
