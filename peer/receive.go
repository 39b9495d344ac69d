package peer

import (
	"fmt"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/peer/exchange"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// maxUnasked is how many blocks a peer may send that nobody asked it for.
const maxUnasked = 64

// accept takes a channel that a peer opened.
func (n *Node) acceptChannel(from libpeer.ID, ch channel) {
	defer func() { _ = ch.Reset() }() // over in any case
	_ = ch.SetReadDeadline(time.Now().Add(handshakeTimeout))
	m, _ := proto.ReadMessage(ch) // none after an error
	hello, ok := m.(*proto.BulkHello)
	if !ok {
		return
	}
	s := n.swarm(hello.Swarm)
	if s == nil {
		return
	}
	c := s.native(proto.PeerID(from))
	if c == nil || !c.hold(ch) {
		return
	}
	defer c.release(ch)
	_ = ch.SetReadDeadline(time.Time{})
	in := &transport.Reader{Reader: ch}
	if err := c.receive(in); !in.Broken {
		s.log.Debug("bulk channel ended", "peer", c.peer, "error", err)
		c.close()
	}
}

// receive takes in the blocks that come on a channel until it ends, and returns
// why it did. That the channel breaks is no reason to end the session: when two nodes
// dial each other at once, it may be of the session that was given up for this one,
// and end with that. If it is of this one, the peer ends that once it cannot send.
func (c *native) receive(ch *transport.Reader) error {
	var room [proto.CodedHeader]byte
	unasked := 0
	for {
		sp, origin, err := c.swarm.form.Head(ch, &room)
		if err != nil {
			return err
		}
		buf := exchange.Get(int(sp.Length))
		if err = ch.Fill(buf.B); err != nil { // a block is sent with one call
			exchange.Put(buf)
			return err
		}
		wanted, late := c.asked.Take(sp)
		if wanted || c.swarm.form.Gossip != nil {
			c.store(exchange.Arrival{From: c.session, Span: sp, Origin: origin, Buf: buf})
			continue
		}
		exchange.Put(buf)
		if late {
			c.swarm.count.Received(c.local, int(sp.Length))
			c.swarm.count.Duplicate(int(sp.Length))
		} else if unasked++; unasked > maxUnasked {
			return fmt.Errorf("sent %d blocks that nobody asked for", unasked)
		}
	}
}

// store takes in a block that was asked for, and hands it on to a worker. The buffer
// is the store's from then on.
func (c *session) store(a exchange.Arrival) {
	s := c.swarm
	s.count.Received(c.local, len(a.Buf.B))
	if err := s.workers.Give(s.ctx, &s.form, a); err != nil {
		s.fail(err)
	}
}
