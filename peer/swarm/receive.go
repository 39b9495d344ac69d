package swarm

import (
	"fmt"

	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// MaxUnrequested is how many blocks a peer may send that nobody requested.
const MaxUnrequested = 64

// receive takes in the blocks that come on a channel until it ends, and returns why it did.
// A broken channel is no reason to end the session: when two nodes dial each other at once,
// it may belong to the session that was given up for this one, and end with that. If it is
// of this one, the peer ends the session once it cannot send.
func (c *nodePeer) receive(ch *transport.Reader) error {
	var room [proto.CodedHeader]byte
	unrequested := 0
	for {
		sp, origin, err := c.swarm.form.Head(ch, &room)
		if err != nil {
			return err
		}
		buf := payload.Get(int(sp.Length))
		if err = ch.Fill(buf.B); err != nil { // a block is sent with one call
			payload.Put(buf)
			return err
		}
		requested, late := c.requested.Take(sp)
		if requested || c.swarm.form.Gossip != nil {
			c.store(payload.Arrival{From: c.session, Span: sp, Origin: origin, Buf: buf})
			continue
		}
		payload.Put(buf)
		if late {
			c.swarm.traffic.Received(c.local, int(sp.Length))
			c.swarm.traffic.Duplicate(int(sp.Length))
			continue
		}
		unrequested++
		if unrequested > MaxUnrequested {
			return fmt.Errorf("%d blocks were not requested", unrequested)
		}
	}
}

// store takes in a requested block, and hands it to a worker. The buffer is the store's from
// then on.
func (c *session) store(a payload.Arrival) {
	s := c.swarm
	s.traffic.Received(c.local, len(a.Buf.B))
	err := s.workers.Give(s.ctx, &s.form, a)
	if err != nil {
		s.Fail(err)
	}
}
