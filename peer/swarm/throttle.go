package swarm

import (
	"slices"

	"github.com/mobgrid/mob/peer/limit"
	"github.com/mobgrid/mob/proto"
)

// Limits are the token buckets of a swarm's payload. Nil chains have no limit.
type Limits struct {
	// WANDown limits payload received over the WAN, WANUp and LANUp sent payload.
	WANDown, WANUp, LANUp limit.Chain
}

// up returns the buckets of the payload to a peer.
func (l *Limits) up(local bool) limit.Chain {
	if local {
		return l.LANUp
	}
	return l.WANUp
}

// throttle delays requests while the limit of payload over the WAN is reached. So no payload waits
// in sockets, and at senders, for a reader that must not read yet. For the strategy the delayed
// requests are in flight, as in the queue before a slow link, and it sizes its windows by that. A
// canceled one costs nothing. The loop owns it.
type throttle struct {
	held    []heldRequest // in order
	waiting bool          // a goroutine waits for the first of them
}

// heldRequest is a request that was not sent yet.
type heldRequest struct {
	to   *session
	m    *proto.Request
	made bool // see [payload.Pending]
}

// onGranted sends delayed requests of n bytes.
func (s *Swarm) onGranted(n int) {
	s.throttle.waiting = false
	if len(s.throttle.held) == 0 {
		s.cfg.Limits.WANDown.Refund(n)
		return
	}
	first := s.throttle.held[0]
	s.cfg.Limits.WANDown.Refund(n - int(first.m.Length)) // the first one may have been canceled
	s.release(first)
	for len(s.throttle.held) > 0 && s.cfg.Limits.WANDown.Try(int(s.throttle.held[0].m.Length)) {
		s.release(s.throttle.held[0])
	}
	s.awaitGrant()
}

func (s *Swarm) release(h heldRequest) {
	s.throttle.held = slices.Delete(s.throttle.held, 0, 1)
	h.to.request(h.m, h.made)
}

// request sends a request, once the limits allow it.
func (s *Swarm) request(c *session, m *proto.Request, made bool) {
	limits := s.cfg.Limits.WANDown
	if c.local || len(s.throttle.held) == 0 && (!limits.Limited() || limits.Try(int(m.Length))) {
		c.request(m, made)
		return
	}
	s.throttle.held = append(s.throttle.held, heldRequest{c, m, made})
	s.awaitGrant()
}

// awaitGrant waits, in a goroutine, until the first delayed request may be sent.
func (s *Swarm) awaitGrant() {
	if s.throttle.waiting || len(s.throttle.held) == 0 {
		return
	}
	s.throttle.waiting = true
	n := int(s.throttle.held[0].m.Length)
	s.wg.Go(func() {
		if s.cfg.Limits.WANDown.Wait(s.ctx, n) == nil {
			s.post(func() { s.onGranted(n) })
		}
	})
}

// withdraw removes a delayed request, and reports whether there was one.
func (s *Swarm) withdraw(c *session, sp proto.Span) bool {
	i := slices.IndexFunc(s.throttle.held, func(h heldRequest) bool { return h.to == c && h.m.Span == sp })
	if i >= 0 {
		s.throttle.held = slices.Delete(s.throttle.held, i, i+1)
	}
	return i >= 0
}

// withdrawAll removes the delayed requests to a session that has ended.
func (s *Swarm) withdrawAll(c *session) {
	s.throttle.held = slices.DeleteFunc(s.throttle.held, func(h heldRequest) bool { return h.to == c })
}

// share starts to share with a member of the site that understands demands.
func (s *Swarm) share(c *session) {
	if n, ok := c.conn.(*nodePeer); ok && c.local && s.cfg.Sharing != nil && n.hello.Features&proto.FeatureDemand != 0 {
		c.unshare = s.cfg.Sharing.Join(c.ID(), c.conn.send)
	}
}
