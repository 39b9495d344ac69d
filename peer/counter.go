package peer

import (
	"sync/atomic"
	"time"
)

// counters counts payload bytes since the swarm began. Safe for concurrent use.
type counters struct {
	wanIn, lanIn, wanOut, lanOut, dup, bad atomic.Int64
}

func (c *counters) received(local bool, n int) {
	if local {
		c.lanIn.Add(int64(n))
	} else {
		c.wanIn.Add(int64(n))
	}
}

func (c *counters) sent(local bool, n int) {
	if local {
		c.lanOut.Add(int64(n))
	} else {
		c.wanOut.Add(int64(n))
	}
}

func (c *counters) duplicate(n int) { c.dup.Add(int64(n)) }

func (c *counters) failed(n int) { c.bad.Add(int64(n)) }

// Traffic is payload by where it came from and went to, in bytes or in bytes
// per second.
type Traffic struct {
	WANIn  int64 `json:"wan_in"`
	LANIn  int64 `json:"lan_in"`
	WANOut int64 `json:"wan_out"`
	LANOut int64 `json:"lan_out"`
}

func (c *counters) traffic() Traffic {
	return Traffic{WANIn: c.wanIn.Load(), LANIn: c.lanIn.Load(), WANOut: c.wanOut.Load(), LANOut: c.lanOut.Load()}
}

// rates averages traffic over the last few seconds. The loop owns it.
type rates struct {
	at   [rateSamples]time.Time
	seen [rateSamples]Traffic
	n    int
}

const (
	rateSamples = 8
	rateEvery   = 500 * time.Millisecond
)

// sample is called often, and takes one in rateEvery; it says whether it did.
func (r *rates) sample(now time.Time, t Traffic) bool {
	if r.n > 0 && now.Sub(r.at[(r.n-1)%rateSamples]) < rateEvery {
		return false
	}
	r.at[r.n%rateSamples], r.seen[r.n%rateSamples] = now, t
	r.n++
	return true
}

// rate is the mean since the oldest sample, in bytes per second.
func (r *rates) rate(now time.Time, t Traffic) Traffic {
	if r.n == 0 {
		return Traffic{}
	}
	k := 0
	if r.n > rateSamples {
		k = r.n % rateSamples
	}
	dt := now.Sub(r.at[k]).Seconds()
	if dt < 0.05 {
		return Traffic{}
	}
	per := func(a, b int64) int64 { return int64(float64(b-a) / dt) }
	o := r.seen[k]
	return Traffic{WANIn: per(o.WANIn, t.WANIn), LANIn: per(o.LANIn, t.LANIn), WANOut: per(o.WANOut, t.WANOut), LANOut: per(o.LANOut, t.LANOut)}
}
