package traffic

import (
	"testing"
	"time"
)

// The rate is that of the last seconds: constant while bytes flow evenly, and 0 once they
// stop.
func TestRate(t *testing.T) {
	var c Counters
	var r Rates
	now := time.Unix(0, 0)
	for range 100 {
		now = now.Add(sampleInterval / 5)
		c.Received(false, 100)
		c.Received(true, 200)
		c.Sent(false, 300)
		c.Sent(true, 400)
		r.Sample(now, c.Bytes())
	}
	if got, want := r.Rate(now, c.Bytes()), (Bytes{WANIn: 1000, LANIn: 2000, WANOut: 3000, LANOut: 4000}); got != want {
		t.Errorf("rate %+v, want %+v", got, want)
	}
	for range 5 * samples {
		now = now.Add(sampleInterval / 5)
		r.Sample(now, c.Bytes())
	}
	if got := r.Rate(now.Add(sampleInterval), c.Bytes()); got != (Bytes{}) {
		t.Errorf("rate %+v after the flow stopped, want 0", got)
	}
}
