// Package traffic counts the payload bytes of one swarm and computes rates.
package traffic

import (
	"sync/atomic"
	"time"
)

// Counters counts payload bytes. It is safe for concurrent use.
type Counters struct {
	wanIn, lanIn, wanOut, lanOut, dup, bad atomic.Int64
}

// Received counts n received bytes: from the LAN if local, else from the WAN.
func (c *Counters) Received(local bool, n int) {
	if local {
		c.lanIn.Add(int64(n))
	} else {
		c.wanIn.Add(int64(n))
	}
}

// Sent counts n sent bytes.
func (c *Counters) Sent(local bool, n int) {
	if local {
		c.lanOut.Add(int64(n))
	} else {
		c.wanOut.Add(int64(n))
	}
}

// Duplicate counts n received bytes that were there already.
func (c *Counters) Duplicate(n int) { c.dup.Add(int64(n)) }

// Duplicates returns the sum of Duplicate.
func (c *Counters) Duplicates() int64 { return c.dup.Load() }

// Failed counts the bytes of pieces that failed their hash.
func (c *Counters) Failed(n int) { c.bad.Add(int64(n)) }

// Bytes is payload by direction and link, in bytes or in bytes per second.
type Bytes struct {
	WANIn  int64 `json:"wan_in"`
	LANIn  int64 `json:"lan_in"`
	WANOut int64 `json:"wan_out"`
	LANOut int64 `json:"lan_out"`
}

// Bytes returns the sums of Received and Sent.
func (c *Counters) Bytes() Bytes {
	return Bytes{
		WANIn:  c.wanIn.Load(),
		LANIn:  c.lanIn.Load(),
		WANOut: c.wanOut.Load(),
		LANOut: c.lanOut.Load(),
	}
}

// Rates computes the mean rates of the last few seconds, from samples in a ring. It is
// not safe for concurrent use.
type Rates struct {
	at    [samples]time.Time
	total [samples]Bytes
	n     int // samples so far
}

const (
	samples        = 8
	sampleInterval = 500 * time.Millisecond
	// minInterval is the least interval over which a rate is computed.
	minInterval = 50 * time.Millisecond
)

// Sample stores the current totals, unless the last sample is younger than
// sampleInterval. It reports whether it did.
func (r *Rates) Sample(now time.Time, total Bytes) bool {
	if r.n > 0 && now.Sub(r.at[(r.n-1)%samples]) < sampleInterval {
		return false
	}
	r.at[r.n%samples], r.total[r.n%samples] = now, total
	r.n++
	return true
}

// Rate returns the mean rate since the oldest sample, in bytes per second.
func (r *Rates) Rate(now time.Time, total Bytes) Bytes {
	if r.n == 0 {
		return Bytes{}
	}
	oldest := 0
	if r.n > samples {
		oldest = r.n % samples
	}
	dt := now.Sub(r.at[oldest])
	if dt < minInterval {
		return Bytes{}
	}
	rate := func(from, to int64) int64 { return int64(float64(to-from) / dt.Seconds()) }
	from := r.total[oldest]
	return Bytes{
		WANIn:  rate(from.WANIn, total.WANIn),
		LANIn:  rate(from.LANIn, total.LANIn),
		WANOut: rate(from.WANOut, total.WANOut),
		LANOut: rate(from.LANOut, total.LANOut),
	}
}
