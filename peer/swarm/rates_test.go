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
		c.Received(0, 100)
		c.Received(1, 50)
		c.Received(2, 150)
		c.Sent(0, 300)
		c.Sent(4, 400)
		r.sample(now, c.Traffic())
	}
	want := payload.Traffic{WANIn: 1000, LANIn: 2000, WANOut: 3000, LANOut: 4000}
	want.Near[0].In, want.Near[1].In, want.Near[3].Out = 500, 1500, 4000
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
