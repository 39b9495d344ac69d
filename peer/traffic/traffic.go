// Package traffic counts the payload of one swarm, and works out its rates.
package traffic

import (
	"sync/atomic"
	"time"
)

// Counters counts payload bytes since the swarm began. Safe for concurrent use.
type Counters struct {
	wanIn, lanIn, wanOut, lanOut, dup, bad atomic.Int64
}

// Received counts bytes that came, from the LAN if local.
func (c *Counters) Received(local bool, n int) {
	if local {
		c.lanIn.Add(int64(n))
	} else {
		c.wanIn.Add(int64(n))
	}
}

// Sent counts bytes that went out.
func (c *Counters) Sent(local bool, n int) {
	if local {
		c.lanOut.Add(int64(n))
	} else {
		c.wanOut.Add(int64(n))
	}
}

// Duplicate counts bytes that came and were there already.
func (c *Counters) Duplicate(n int) { c.dup.Add(int64(n)) }

// Duplicates is their sum.
func (c *Counters) Duplicates() int64 { return c.dup.Load() }

// Failed counts the bytes of pieces that failed their hash.
func (c *Counters) Failed(n int) { c.bad.Add(int64(n)) }

// Bytes is payload by where it came from and went to, in bytes or in bytes
// per second.
type Bytes struct {
	WANIn  int64 `json:"wan_in"`
	LANIn  int64 `json:"lan_in"`
	WANOut int64 `json:"wan_out"`
	LANOut int64 `json:"lan_out"`
}

// Bytes is what was counted so far.
func (c *Counters) Bytes() Bytes {
	return Bytes{WANIn: c.wanIn.Load(), LANIn: c.lanIn.Load(), WANOut: c.wanOut.Load(), LANOut: c.lanOut.Load()}
}

// Rates averages traffic over the last few seconds. One goroutine owns it.
type Rates struct {
	at   [rateSamples]time.Time
	seen [rateSamples]Bytes
	n    int
}

const (
	rateSamples = 8
	rateEvery   = 500 * time.Millisecond
)

// Sample is called often, and takes one in rateEvery; it says whether it did.
func (r *Rates) Sample(now time.Time, t Bytes) bool {
	if r.n > 0 && now.Sub(r.at[(r.n-1)%rateSamples]) < rateEvery {
		return false
	}
	r.at[r.n%rateSamples], r.seen[r.n%rateSamples] = now, t
	r.n++
	return true
}

// Rate is the mean since the oldest sample, in bytes per second.
func (r *Rates) Rate(now time.Time, t Bytes) Bytes {
	if r.n == 0 {
		return Bytes{}
	}
	k := 0
	if r.n > rateSamples {
		k = r.n % rateSamples
	}
	dt := now.Sub(r.at[k]).Seconds()
	if dt < 0.05 {
		return Bytes{}
	}
	per := func(a, b int64) int64 { return int64(float64(b-a) / dt) }
	o := r.seen[k]
	return Bytes{WANIn: per(o.WANIn, t.WANIn), LANIn: per(o.LANIn, t.LANIn), WANOut: per(o.WANOut, t.WANOut), LANOut: per(o.LANOut, t.LANOut)}
}
