package payload

import "sync/atomic"

// Counters counts the payload of one swarm in bytes. It is safe for concurrent use.
type Counters struct {
	wanIn, lanIn, wanOut, lanOut, duplicate atomic.Int64
}

// Traffic is payload by direction and link, in bytes or in bytes per second.
type Traffic struct {
	WANIn  int64 `json:"wan_in"`
	LANIn  int64 `json:"lan_in"`
	WANOut int64 `json:"wan_out"`
	LANOut int64 `json:"lan_out"`
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

// Duplicate counts n received bytes that the node had already, or cannot use.
func (c *Counters) Duplicate(n int) { c.duplicate.Add(int64(n)) }

// Duplicates returns the sum of Duplicate.
func (c *Counters) Duplicates() int64 { return c.duplicate.Load() }

// Traffic returns the sums of Received and Sent.
func (c *Counters) Traffic() Traffic {
	return Traffic{
		WANIn:  c.wanIn.Load(),
		LANIn:  c.lanIn.Load(),
		WANOut: c.wanOut.Load(),
		LANOut: c.lanOut.Load(),
	}
}
