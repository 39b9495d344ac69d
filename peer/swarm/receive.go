package swarm

import (
	"fmt"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

// A block takes five steps from the socket to the peers that hear of it:
//
//	frame     readFrame       The receiver, a goroutine per bulk channel, reads header and
//	                          payload into a pooled buffer. Blocks that were not requested
//	                          end here.
//	write     writeInReader   The receiver writes the block to the store, since the kernel
//	                          admits one writer to a file at a time, and hands it to a
//	                          worker. While that is behind it waits, and TCP slows down the
//	                          sender. Coded blocks are written once they are decoded, and
//	                          the worker writes those of pieces in several files.
//	verify    verifyInWorker  The worker hashes or decodes. All blocks of one piece, or of
//	                          one generation, go to the same worker, in order.
//	commit    Codec.Verify    With the last block of a piece, or of a generation, the worker
//	                          commits it to the store if its hash matches.
//	announce  Post            The worker posts the outcome to the loop, where the strategy
//	                          steps, and sends peers a Have.
//
// Steps two to four are those of the [payload.Codec].

// maxUnrequested is how many blocks a peer may send that nobody requested.
const maxUnrequested = 64

// receive receives the blocks of a channel until it ends, and returns why it did. A broken
// channel is no reason to end the session: when two nodes dial each other at once, it may
// belong to the session that was given up for this one. If it does not, the peer ends the
// session once it cannot send.
func (c *nodePeer) receive(ch *transport.Reader) error {
	unrequested := 0
	header := new(payload.Header)
	for {
		b, err := c.readFrame(ch, header)
		if err != nil {
			return err
		}
		requested, made, cancelled := c.pending.Take(b.Span)
		b.Made = made
		switch {
		case requested, c.swarm.pusher != nil:
			c.writeInReader(b)
			continue
		case cancelled:
			c.duplicate(len(b.Buf.B))
		default:
			unrequested++
			if unrequested > maxUnrequested {
				err = fmt.Errorf("%d blocks were not requested", unrequested)
			}
		}
		b.Buf.Release()
		if err != nil {
			return err
		}
	}
}

// readFrame reads the next block of a channel.
func (c *nodePeer) readFrame(ch *transport.Reader, h *payload.Header) (*payload.Block, error) {
	if err := c.swarm.codec.ReadHeader(ch, h); err != nil {
		return nil, err
	}
	buf := payload.GetBuffer(int(h.Span.Length))
	if err := ch.Fill(buf.B); err != nil { // all at once: a peer sends a block with one call
		buf.Release()
		return nil, err
	}
	return &payload.Block{From: c.session, Span: h.Span, Origin: h.Origin, Buf: buf}, nil
}

// writeInReader takes over a block, and blocks while its worker is behind. The goroutine
// that reads the channel calls it.
func (c *session) writeInReader(b *payload.Block) {
	s := c.swarm
	c.blocks.Add(1)
	c.count(len(b.Buf.B))
	if err := s.codec.Write(b); err != nil {
		b.Buf.Release()
		s.Fail(err)
		return
	}
	s.workers.Queue(s.ctx, b)
}

// duplicate counts payload that came and is not needed.
func (c *session) duplicate(n int) {
	c.count(n)
	c.swarm.traffic.Duplicate(n)
}

// count counts received payload.
func (c *session) count(n int) {
	c.swarm.traffic.Received(c.shared, n)
	c.source.Add(int64(n))
}

// verifyInWorker runs worker i until the swarm ends.
func (s *Swarm) verifyInWorker(i int) { s.workers.Run(s.ctx, i, s.codec) }

// IsPeer implements [payload.Swarm].
func (s *Swarm) IsPeer(id proto.PeerID) bool { return s.session(id) != nil }

// IsMember implements [payload.Swarm].
func (s *Swarm) IsMember(id proto.PeerID) bool {
	_, ok := s.told.Load(id)
	return ok
}

// Post implements [payload.Swarm].
func (s *Swarm) Post(ev mob.Event, from payload.Peer) {
	s.counts.note(ev)
	c, _ := from.(*session)
	s.post(strategyEvent{ev, c})
}
