package swarm

import (
	"net/netip"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/proto/reach"
)

const (
	// maxSessions bounds the peers of one swarm, and maxInbound the inbound ones:
	// the strategy needs the rest for members that it chose.
	maxSessions = 2048
	maxInbound  = maxSessions - 512
	// probation is the least age of an idle inbound session that may be replaced.
	probation = time.Minute
)

// admit reports whether there is room for a new session. It may end another one.
func (s *Swarm) admit(c *session) bool {
	c.admitted = time.Now()
	if !c.inbound() {
		return s.sessionCount() < maxSessions
	}
	if !s.inbound.Take(c.host) {
		if !s.makeRoom(c) {
			return false
		}
		s.inbound.Grant(c.host)
	}
	return true
}

// makeRoom ends the oldest session on probation that has exchanged no block: one of the same
// address, or any if the table is full.
func (s *Swarm) makeRoom(c *session) bool {
	full := s.inbound.Used() == maxInbound
	var oldest *session
	for _, o := range s.byID { // only the loop writes
		useless := o.inbound() && o.blocks.Load() == 0 && time.Since(o.admitted) > probation
		if useless && (full || o.host == c.host) && (oldest == nil || o.admitted.Before(oldest.admitted)) {
			oldest = o
		}
	}
	if oldest == nil {
		return false
	}
	s.forget(oldest)
	oldest.conn.closeWithError(proto.CodeBusy, "room for other peers")
	s.step(mob.Left{Peer: oldest.ID()})
	return true
}

// inbound reports whether the peer is a node that opened the connection.
func (c *session) inbound() bool {
	_, node := c.conn.(*nodePeer)
	return node && c.dialer == c.ID()
}

// remoteIP returns the address of a node, as seen from here.
func (c *nodePeer) remoteIP() netip.Addr { return reach.IP(c.stream.Conn().RemoteMultiaddr()) }

// tag marks the members of the swarm.
func (s *Swarm) tag() string { return s.cfg.Link.Keys()[0].String() }

// protect keeps the connection of a session's peer, until unprotect.
func (s *Swarm) protect(c *session) {
	if n, ok := c.conn.(*nodePeer); ok {
		s.cfg.Host.ConnManager().Protect(n.peer, s.tag())
	}
}

func (s *Swarm) unprotect(c *session) {
	if n, ok := c.conn.(*nodePeer); ok {
		s.cfg.Host.ConnManager().Unprotect(n.peer, s.tag())
	}
}
