package swarm

import (
	"fmt"
	"io"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/transport"
)

// A block takes five steps from the socket to the announcement:
//
//	frame     readFrame       The receiver, a goroutine per bulk channel, reads the header,
//	                          and the payload into a pooled buffer. The payload of a block
//	                          that was not requested is skipped.
//	write     writeInReader   The receiver writes the block to the store, since the kernel
//	                          admits one writer to a file at a time, and hands it to a
//	                          worker. While that is behind it waits, and TCP slows down the
//	                          sender. Coded blocks are written once they are decoded, and
//	                          the worker writes blocks of pieces in several files.
//	verify    Codec.Verify    The worker hashes or decodes. All blocks of one piece, or of
//	                          one generation, go to the same worker, in order.
//	commit    Codec.Verify    With the last block of a piece, or of a generation, the worker
//	                          commits it to the store if its hash matches.
//	announce  Post            The worker posts the outcome to the loop, where the strategy
//	                          steps, and sends peers a Have.
//
// The [payload.Codec] does steps two to four.

const (
	// maxUnrequested bounds the unrequested blocks of a peer.
	maxUnrequested = 64
	// blockTimeout bounds the time from a block's header to its end. A requested block has another
	// millisecond for each byte: a peer may send at the least rate that a limit may have.
	blockTimeout = 30 * time.Second
)

// receive receives the blocks of a channel until it ends, and returns the reason. A broken
// channel does not end the session: when two nodes dial each other concurrently, it may belong
// to the other session. If not, the peer ends the session once it cannot send.
func (c *nodePeer) receive(ch *transport.Reader) error {
	late := time.AfterFunc(blockTimeout, func() {
		if r, ok := ch.Reader.(Channel); ok {
			_ = r.Reset()
		}
	})
	late.Stop()
	unrequested := 0
	header := new(payload.Header)
	for {
		if err := c.swarm.codec.ReadHeader(ch, header); err != nil {
			return err
		}
		sp := header.Span
		requested, made, canceled := c.pending.Take(sp)
		if requested || c.swarm.pusher != nil {
			late.Reset(blockTimeout + time.Duration(sp.Length)*time.Millisecond)
			b, err := c.readFrame(ch, header)
			late.Stop()
			if err != nil {
				if requested { // it may come by another channel
					c.pending.Add(sp, made)
				}
				return err
			}
			b.Made = made
			c.writeInReader(b)
			continue
		}
		if !canceled {
			unrequested++
			if unrequested > maxUnrequested {
				return fmt.Errorf("%d blocks were not requested", unrequested)
			}
		}
		late.Reset(blockTimeout)
		_, err := io.CopyN(io.Discard, ch, int64(sp.Length))
		late.Stop()
		if err != nil {
			return err
		}
		if canceled {
			c.duplicate(int(sp.Length))
		}
	}
}

// readFrame reads the payload of a block.
func (c *nodePeer) readFrame(ch *transport.Reader, h *payload.Header) (*payload.Block, error) {
	buf := payload.GetBuffer(int(h.Span.Length))
	if err := ch.Fill(buf.B); err != nil { // in one call: a peer sends a block with one call
		buf.Release()
		return nil, err
	}
	return &payload.Block{From: c.session, Span: h.Span, Origin: h.Origin, Buf: buf}, nil
}

// writeInReader accepts a block, and blocks while its worker is behind. The goroutine
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

func (c *session) duplicate(n int) {
	c.count(n)
	c.swarm.traffic.Duplicate(n)
}

func (c *session) count(n int) {
	c.swarm.traffic.Received(c.shared, n)
	c.source.Add(int64(n))
}

// Post implements [payload.Swarm].
func (s *Swarm) Post(ev mob.Event, from payload.Peer) {
	s.counts.note(ev)
	s.post(func() {
		if s.joined(from) {
			s.step(ev)
		}
	})
}

// joined reports whether the session of a peer has neither ended nor been replaced. It is true for no peer.
func (s *Swarm) joined(p payload.Peer) bool {
	c, _ := p.(*session)
	return c == nil || s.session(c.ID()) == c
}
