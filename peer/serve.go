package peer

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mobgrid/mob/proto"
)

// maxUploads is how many requests of one peer may wait: more bytes in flight
// than any link holds.
const maxUploads = 16 << 10

// uploads is the queue of what a peer asked for. Safe for concurrent use.
type uploads struct {
	mu     sync.Mutex
	queue  []proto.Span
	closed bool
	wake   chan struct{} // holds one token when the queue may be non-empty
}

func newUploads() *uploads { return &uploads{wake: make(chan struct{}, 1)} }

// add is false when too many wait already.
func (u *uploads) add(sp proto.Span) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.queue) >= maxUploads {
		return false
	}
	u.queue = append(u.queue, sp)
	u.signal()
	return true
}

func (u *uploads) cancel(sp proto.Span) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if i := slices.Index(u.queue, sp); i >= 0 {
		u.queue = slices.Delete(u.queue, i, i+1)
	}
}

func (u *uploads) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed, u.queue = true, nil
	u.signal()
}

func (u *uploads) signal() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// next waits for the next request; ok is false once the queue is closed.
func (u *uploads) next() (sp proto.Span, ok bool) {
	for {
		u.mu.Lock()
		if len(u.queue) > 0 {
			sp = u.queue[0]
			u.queue = slices.Delete(u.queue, 0, 1)
			u.mu.Unlock()
			return sp, true
		}
		closed := u.closed
		u.mu.Unlock()
		if closed {
			return sp, false
		}
		<-u.wake
	}
}

// serve sends the peer what it asks for, in order: every request for a stored
// piece is honoured.
func (c *session) serve() {
	var ch channel
	for {
		sp, ok := c.upload.next()
		if !ok {
			return
		}
		if !c.swarm.verified.has(sp.Piece) {
			c.send(&proto.Reject{Span: sp})
			continue
		}
		if ch == nil {
			var err error
			if ch, err = c.openChannel(); err != nil {
				c.close()
				return
			}
			defer c.release(ch)
		}
		if err := c.sendBlock(ch, sp); err != nil {
			c.close()
			return
		}
	}
}

func (c *session) openChannel() (channel, error) {
	ch, err := openBulk(c.ctx, c.swarm.node.host, c.peer)
	if err != nil {
		return nil, err
	}
	if !c.hold(ch) {
		_ = ch.Reset()
		return nil, errors.New("the session has ended")
	}
	_ = ch.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err := proto.WriteMessage(ch, &proto.BulkHello{Swarm: c.swarm.id.Bytes()}); err != nil {
		c.release(ch)
		return nil, err
	}
	return ch, nil
}

// sendBlock reads a block and sends it. A block that cannot be read is refused,
// and its piece checked.
func (c *session) sendBlock(ch channel, sp proto.Span) error {
	buf := blocks.get(proto.BlockHeader + int(sp.Length))
	defer blocks.put(buf)
	data := buf.b[proto.BlockHeader:]
	proto.AppendBlockHeader(buf.b[:0], sp.Piece, sp.Begin, len(data))
	if _, err := c.swarm.st.ReadAt(data, c.swarm.m.PieceOffset(int(sp.Piece))+int64(sp.Begin)); err != nil {
		c.swarm.log.Error("piece cannot be read", "piece", sp.Piece, "error", err)
		c.send(&proto.Reject{Span: sp})
		c.swarm.complain(c, sp.Piece)
		return nil
	}
	_ = ch.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := ch.Write(buf.b); err != nil {
		return err
	}
	c.swarm.count.sent(c.local, len(data))
	return nil
}
