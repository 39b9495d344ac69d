package payload

import (
	"sync/atomic"

	"github.com/mobgrid/mob/proto"
)

// Counters counts the payload of one swarm in bytes. It is safe for concurrent use.
type Counters struct {
	in, out   perLevel
	duplicate atomic.Int64
}

// perLevel is by how many parts the names of the two clusters share.
type perLevel [proto.MaxClusterParts + 1]atomic.Int64

// Traffic is payload by direction and link, in bytes or in bytes per second.
type Traffic struct {
	WANIn  int64 `json:"wan_in"`
	LANIn  int64 `json:"lan_in"`
	WANOut int64 `json:"wan_out"`
	LANOut int64 `json:"lan_out"`

	// Near splits LANIn and LANOut by how many parts the names of the two clusters share, less one.
	Near [proto.MaxClusterParts]struct{ In, Out int64 } `json:"-"`
}

// Add adds other payload.
func (t *Traffic) Add(u *Traffic) { t.Combine(u, func(a, b int64) int64 { return a + b }) }

// Combine replaces each number of t by f of it and the number in u.
func (t *Traffic) Combine(u *Traffic, f func(t, u int64) int64) {
	t.WANIn, t.WANOut = f(t.WANIn, u.WANIn), f(t.WANOut, u.WANOut)
	t.LANIn, t.LANOut = f(t.LANIn, u.LANIn), f(t.LANOut, u.LANOut)
	for i, n := range u.Near {
		t.Near[i].In, t.Near[i].Out = f(t.Near[i].In, n.In), f(t.Near[i].Out, n.Out)
	}
}

// Received counts n received bytes from a node. shared is the number of common first parts of the cluster
// names, 0 for another site.
func (c *Counters) Received(shared, n int) { c.in[shared].Add(int64(n)) }

// Sent counts n sent bytes.
func (c *Counters) Sent(shared, n int) { c.out[shared].Add(int64(n)) }

// Duplicate counts n received bytes that the node had already, or cannot use.
func (c *Counters) Duplicate(n int) { c.duplicate.Add(int64(n)) }

// Duplicates returns the sum of Duplicate.
func (c *Counters) Duplicates() int64 { return c.duplicate.Load() }

// Traffic returns the sums of Received and Sent.
func (c *Counters) Traffic() Traffic {
	t := Traffic{WANIn: c.in[0].Load(), WANOut: c.out[0].Load()}
	for i := range t.Near {
		n := &t.Near[i]
		n.In, n.Out = c.in[i+1].Load(), c.out[i+1].Load()
		t.LANIn += n.In
		t.LANOut += n.Out
	}
	return t
}
