package bench

import (
	"errors"
	"testing"
	"time"
)

func TestStall(t *testing.T) {
	const size = 1000
	var s stall
	for _, tt := range []struct {
		at       time.Duration
		bytes    uint64
		complete int
		stalled  bool
	}{
		{time.Second, 500, 0, false},
		{stallTimeout, 509, 0, false},                   // the rest of a keepalive
		{time.Second + stallTimeout - 1, 510, 0, false}, // almost
		{time.Second + stallTimeout, 510, 1, false},     // a receiver completes
		{2 * stallTimeout, 511, 1, false},
		{time.Second + 2*stallTimeout, 511, 1, true},
		{time.Second + 2*stallTimeout, 600, 1, false},
	} {
		if err := s.check(tt.bytes, tt.complete, size, tt.at); errors.Is(err, errStalled) != tt.stalled {
			t.Errorf("after %v: %v", tt.at, err)
		}
	}
}
