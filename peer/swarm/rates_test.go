package swarm

import (
	"testing"
	"time"

	"github.com/mobgrid/mob/peer/payload"
)

// TestRate computes the rate of the last seconds: constant while bytes flow evenly, and 0 once they
// stop.
func TestRate(t *testing.T) {
	t.Parallel()
	var c payload.Counters
	var r rates
	now := time.Unix(0, 0)
	for range 100 {
		now = now.Add(sampleInterval / 5)
		c.Received(false, 100)
		c.Received(true, 200)
		c.Sent(false, 300)
		c.Sent(true, 400)
		r.sample(now, c.Traffic())
	}
	want := payload.Traffic{WANIn: 1000, LANIn: 2000, WANOut: 3000, LANOut: 4000}
	if got := r.rate(now, c.Traffic()); got != want {
		t.Errorf("rate %+v, want %+v", got, want)
	}
	for range 5 * samples {
		now = now.Add(sampleInterval / 5)
		r.sample(now, c.Traffic())
	}
	if got := r.rate(now.Add(sampleInterval), c.Traffic()); got != (payload.Traffic{}) {
		t.Errorf("rate %+v after the flow stopped, want 0", got)
	}
}
