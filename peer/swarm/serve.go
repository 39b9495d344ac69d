package swarm

import (
	"runtime"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

const (
	// longPath is the least round trip of a path that one TCP flow cannot fill, and flowBacklog the
	// least number of queued bytes for another flow.
	longPath    = 10 * time.Millisecond
	flowBacklog = 1 << 20
	// coreBacklog is the least number of queued bytes for another flow on a near path, where one core that
	// encrypts, or decrypts and writes, may be the limit. Near peers request the bytes of 40 to 50 ms, so
	// that is more than a gigabit per second.
	coreBacklog = 8 << 20
)

// server sends the blocks of a peer's queue, one after the other, over one channel. The
// servers of a session share the queue.
type server struct {
	*nodePeer
	ch     Channel                // nil before the first block
	direct *transport.Conn        // ch, if that is a bulk socket
	dialed <-chan *transport.Conn // a bulk socket that is being dialed, or nil
	retry  time.Time              // when a bulk socket is dialed again
	index  int                    // of the session's servers; the first one starts the remaining ones
	sent   int64                  // bytes, by this one
	loss   lossMeter
	look   time.Time      // when the path of direct is looked at again
	seen   transport.Path // what was seen last
	rated  bool           // the congestion control of direct is rateBased
}

func (c *nodePeer) serve() {
	v := &server{nodePeer: c}
	if c.swarm.pusher != nil {
		v.dialed = v.dialDirect() // every node pushes to every other one
	}
	v.run()
}

// serveToo runs one more server. If there is no direct path for it, it tries again after a pause.
func (c *nodePeer) serveToo(index int) {
	for c.flows.await(index) {
		ch, err := c.openDirect()
		if err == nil {
			v := &server{nodePeer: c, index: index, ch: ch, direct: ch}
			v.adapt()
			v.run()
			return
		}
		c.swarm.log.Debug("no further bulk socket", "peer", c.peer, "error", err)
		select {
		case <-time.After(c.swarm.cfg.Faults.DirectRetry):
		case <-c.ctx.Done():
			return
		}
	}
}

// run serves the queue until the session ends.
func (v *server) run() {
	defer func() {
		if v.ch != nil {
			v.closeChannel(v.ch)
		}
	}()
	for v.flows.await(v.index) {
		sp, waiting, ok := v.uploads.Next()
		if !ok {
			return
		}
		buf, err := v.swarm.codec.Encode(v.session, sp)
		if err != nil {
			v.served(sp, err)
			continue
		}
		err = v.prepare()
		if err == nil {
			err = v.sendBlock(buf, sp)
		}
		buf.Release()
		if err != nil {
			v.close()
			return
		}
		v.served(sp, nil)
		v.adapt()
		v.share(waiting)
	}
}

// absentPause is the duration of a push whose block is absent, so that the strategy does not
// repeat it immediately.
const absentPause = 100 * time.Millisecond

// served handles the result of a block in the queue: it rejects a request whose block is absent, and
// reports each push to the strategy.
func (v *server) served(sp proto.Span, err error) {
	switch pushed := v.swarm.pusher != nil; {
	case pushed && err == nil:
		v.pushed()
	case pushed:
		time.AfterFunc(absentPause, v.pushed)
	case err != nil:
		v.send(&proto.Reject{Span: sp})
	}
}

func (v *server) pushed() { v.swarm.Post(mob.Sent{Peer: v.ID()}, v.session) }

// prepare opens the channel: a bulk socket, or a stream as long as there is none.
func (v *server) prepare() error {
	if v.direct != nil {
		return nil
	}
	if now := time.Now(); v.dialed == nil && now.After(v.retry) && v.worthDirect() {
		v.retry = now.Add(v.swarm.cfg.Faults.DirectRetry)
		v.dialed = v.dialDirect()
	}
	switch {
	case v.dialed == nil:
	case v.ch == nil:
		select {
		case v.direct = <-v.dialed:
			v.dialed = nil
		case <-time.After(directWait):
		}
	default: // blocks go over the stream until it is open
		select {
		case v.direct = <-v.dialed:
			v.dialed = nil
		default:
		}
	}
	if v.direct != nil {
		if v.ch != nil {
			v.retireChannel(v.ch)
		}
		v.ch = v.direct
		v.adapt()
		return nil
	}
	if v.ch != nil {
		return nil
	}
	var err error
	v.ch, err = v.openStream()
	return err
}

// worthDirect reports whether a bulk socket is worth its handshakes by now.
func (v *server) worthDirect() bool {
	if v.local {
		return v.sent >= localWorth
	}
	return v.swarm.m.Length() >= directWorth
}

// dialDirect dials a bulk socket in a separate goroutine. The result is nil if there is
// no direct path.
func (v *server) dialDirect() <-chan *transport.Conn {
	out := make(chan *transport.Conn)
	v.swarm.wg.Go(func() {
		ch, err := v.openDirect()
		if err != nil {
			v.swarm.log.Debug("no direct path for bulk", "peer", v.peer, "error", err)
		}
		select {
		case out <- ch:
		case <-v.ctx.Done():
			if ch != nil {
				v.closeChannel(ch)
			}
		}
	})
	return out
}

// rateBased is a congestion control that uses the delivery rate, and tolerates a few losses.
const rateBased = "bbr"

// adapt samples the path of the socket. Where it loses packets without a queue it sets the socket's
// congestion control to rateBased, or, if the kernel does not allow it, lets more sockets send.
func (v *server) adapt() {
	now := time.Now()
	if v.direct == nil || v.rated || now.Before(v.look) {
		return
	}
	p := v.swarm.cfg.Faults.Path(v.direct)
	v.look = now.Add(lossInterval)
	if p.MinRTT < longPath {
		v.look = now.Add(nearInterval)
	}
	s := flowSample{acked: p.Acked - v.seen.Acked, busy: p.Busy - v.seen.Busy, queued: hasQueue(p), trip: p.MinRTT}
	v.seen = p
	if s, ended := v.loss.add(now, p); ended {
		v.route.add(s)
	}
	if !v.route.lossy() {
		return
	}
	if !v.route.rejected.Load() {
		err := v.swarm.cfg.Faults.Congestion(v.direct, rateBased)
		v.swarm.log.Debug("the path loses packets without a queue", "peer", v.peer, "congestion", rateBased, "error", err)
		if err == nil {
			v.rated = true
			return
		}
		v.route.rejected.Store(true)
	}
	v.direct.SetUnsent(lossyUnsent)
	v.flows.grow(now, s)
}

// lossyUnsent bounds the unsent bytes in a socket of a path that loses packets, so that a block goes to a
// socket that can send it.
const lossyUnsent = 32 << 10

// share starts further servers where one flow is too slow.
func (v *server) share(waiting int) {
	if v.index > 0 || v.direct == nil {
		return
	}
	switch {
	case waiting >= flowBacklog && v.seen.MinRTT >= longPath:
		v.flows.atLeast(maxFlows)
	case waiting >= coreBacklog:
		v.flows.atLeast(min(maxFlows, runtime.GOMAXPROCS(0)))
	}
	for i, end := v.flows.start(); i < end; i++ {
		v.swarm.wg.Go(func() { v.serveToo(i) })
	}
}

// sendBlock sends the frame of a block, as fast as the limits allow.
func (v *server) sendBlock(buf *payload.Buffer, sp proto.Span) error {
	limits := v.swarm.cfg.Limits.up(v.local)
	for b := buf.B; len(b) > 0; {
		n := len(b)
		if limits.Limited() {
			n = limits.Chunk(n)
			if err := limits.Wait(v.ctx, n); err != nil {
				return err
			}
		}
		_ = v.ch.SetWriteDeadline(time.Now().Add(writeTimeout))
		if _, err := v.ch.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	v.sent += int64(len(buf.B))
	v.blocks.Add(1)
	v.swarm.traffic.Sent(v.shared, int(sp.Length))
	return nil
}
