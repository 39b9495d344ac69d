package collective

import (
	"context"

	libpeer "github.com/libp2p/go-libp2p/core/peer"
)

// outbox sends frames to one member, in order. The lock of the Comm guards its fields.
type outbox struct {
	queue   []frame
	running bool
}

// send queues a value for another member. The data must not change afterwards.
func (c *Comm) send(rank int, f frame) {
	f.Run, f.Total = c.run, uint32(len(f.data))
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.outbox[rank]
	if o == nil {
		o = &outbox{}
		c.outbox[rank] = o
	}
	o.queue = append(o.queue, f)
	if !o.running {
		o.running = true
		go c.sendAll(o, libpeer.ID(c.roster.Members[rank].ID), rank)
	}
}

// sendAll sends the frames of an outbox.
func (c *Comm) sendAll(o *outbox, to libpeer.ID, rank int) {
	for {
		c.mu.Lock()
		if len(o.queue) == 0 || c.ctx.Err() != nil {
			o.queue, o.running = nil, false
			c.idle.Broadcast()
			c.mu.Unlock()
			return
		}
		f := o.queue[0]
		o.queue[0] = frame{}
		o.queue = o.queue[1:]
		c.mu.Unlock()
		for more := true; more; more = int(f.Offset) < int(f.Total) {
			n := min(maxData, int(f.Total-f.Offset))
			if err := c.g.Send(c.ctx, to, f.append(nil), f.data[f.Offset:int(f.Offset)+n]...); err != nil && c.ctx.Err() == nil {
				c.lose(rank)
				c.mu.Lock()
				o.queue = nil
				c.mu.Unlock()
				break
			}
			f.Offset += uint32(n)
		}
	}
}

// drain waits until all outboxes are empty.
func (c *Comm) drain(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.idle.Broadcast()
	})()
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		busy := false
		for _, o := range c.outbox {
			busy = busy || o != nil && o.running
		}
		switch {
		case c.ctx.Err() != nil:
			return context.Cause(c.ctx)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !busy:
			return nil
		}
		c.idle.Wait()
	}
}
