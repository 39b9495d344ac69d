package swarm

import (
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/peer/transport"
	"github.com/mobgrid/mob/proto"
)

const (
	// MaxFlows is how many sockets send to one peer where one TCP flow cannot fill
	// the path: its window is bounded, and after a loss grows by a packet per
	// round trip.
	MaxFlows = 4
	// longPath is the round trip from which on that is so, and flowBacklog how many
	// bytes must wait before it matters.
	longPath    = 10 * time.Millisecond
	flowBacklog = 1 << 20
)

// server sends a peer what it asks for, block after block, over one channel.
// Those of a session share its queue.
type server struct {
	*nodePeer
	ch     Channel                // nil before the first block
	direct *transport.Conn        // ch, when that is one
	dialed <-chan *transport.Conn // a direct socket on its way, or nil
	retry  time.Time              // when a direct path is looked for again
	spread bool                   // others help already
}

// serve is the session's first server.
func (c *nodePeer) serve() {
	v := &server{nodePeer: c}
	v.run()
}

// serveToo is one more, if there is a direct path for it.
func (c *nodePeer) serveToo() {
	ch, err := c.openDirect()
	if err != nil {
		c.swarm.log.Debug("no further bulk socket", "peer", c.peer, "error", err)
		return
	}
	v := &server{nodePeer: c, ch: ch, direct: ch, spread: true}
	v.run()
}

// run honours every request for a stored piece, until the session ends.
func (v *server) run() {
	defer func() {
		if v.ch != nil {
			v.closeChannel(v.ch)
		}
	}()
	if v.swarm.form.Gossip != nil && v.dialed == nil && v.direct == nil {
		v.dialed = v.dialDirect() // everybody will send to everybody, and soon
	}
	for {
		sp, waiting, ok := v.uploads.Next()
		if !ok {
			return
		}
		buf, err := v.swarm.form.Frame(v.session, sp)
		if err != nil {
			v.decline(sp)
			continue
		}
		if err = v.prepare(); err == nil {
			err = v.sendBlock(buf, sp)
		}
		payload.Put(buf)
		if err != nil {
			v.close()
			return
		}
		if v.swarm.form.Gossip != nil {
			v.swarm.post(strategyEvent{mob.Sent{Peer: v.id()}, v.session})
		}
		if waiting >= flowBacklog {
			v.share()
		}
	}
}

// declinePause is how long a block that cannot be made counts as leaving.
const declinePause = 100 * time.Millisecond

// decline says that there is no block, to who asked for it, or to the State that wanted
// to send it.
func (v *server) decline(sp proto.Span) {
	if v.swarm.form.Gossip == nil {
		v.send(&proto.Reject{Span: sp})
		return
	}
	time.AfterFunc(declinePause, func() { v.swarm.post(strategyEvent{mob.Sent{Peer: v.id()}, v.session}) })
}

// prepare sees to a channel: a stream as long as there is no direct socket.
func (v *server) prepare() error {
	if v.direct != nil {
		return nil
	}
	var patience time.Duration
	if v.ch == nil {
		patience = directWait
	}
	if now := time.Now(); v.dialed == nil && now.After(v.retry) {
		v.retry = now.Add(v.swarm.cfg.Faults.DirectRetry)
		v.dialed = v.dialDirect()
	}
	if v.dialed != nil {
		select {
		case v.direct = <-v.dialed:
			v.dialed = nil
		case <-time.After(patience):
		}
	}
	if v.direct != nil {
		if v.ch != nil {
			v.retireChannel(v.ch)
		}
		v.ch = v.direct
		return nil
	}
	if v.ch != nil {
		return nil
	}
	var err error
	v.ch, err = v.openStream()
	return err
}

// dialDirect dials beside the server. What it gives is nil when there is no
// direct path.
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

// share has others help where one flow is too slow.
func (v *server) share() {
	if v.spread || v.direct == nil || v.swarm.cfg.Faults.RTT(v.direct) < longPath {
		return
	}
	v.spread = true
	for range MaxFlows - 1 {
		v.swarm.wg.Go(v.serveToo)
	}
}

// sendBlock sends the frame of a block.
func (v *server) sendBlock(buf *payload.Buffer, sp proto.Span) error {
	_ = v.ch.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := v.ch.Write(buf.B); err != nil {
		return err
	}
	v.swarm.traffic.Sent(v.local, int(sp.Length))
	return nil
}
