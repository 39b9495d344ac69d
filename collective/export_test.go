package collective

import "github.com/mobgrid/mob/peer"

// Node returns the node of a member.
func (c *Comm) Node() *peer.Node { return c.g.Node() }

// Receiving reports whether the member has a part of a value.
func (c *Comm) Receiving() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.partial) > 0
}

// Early returns the number of values for operations that the member has not called.
func (c *Comm) Early() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for op, all := range c.frames {
		if op > c.op {
			n += len(all)
		}
	}
	return n
}
