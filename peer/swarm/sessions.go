package swarm

import (
	"sync"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// sessions has the sessions with the peers of a swarm. Only the loop changes them. It is safe for concurrent use.
type sessions struct {
	mu   sync.RWMutex
	byID map[proto.PeerID]*session
}

func (t *sessions) session(id proto.PeerID) *session {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byID[id]
}

// nodePeer returns the connection to a node, nil if there is none.
func (t *sessions) nodePeer(id proto.PeerID) *nodePeer {
	if c := t.session(id); c != nil {
		n, _ := c.conn.(*nodePeer)
		return n
	}
	return nil
}

func (t *sessions) sessionCount() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.byID)
}

// onJoin adds a new session. Of two sessions with one peer that were dialed concurrently both sides keep the
// one that the lesser id dialed, and otherwise the newer one: the peer has given up the older, which may be
// silent after a network failure.
func (s *Swarm) onJoin(c *session) {
	delete(s.visiting, c.ID())
	if old := s.session(c.ID()); old != nil {
		if old.dialer < c.dialer && time.Since(old.admitted) < dialTimeout {
			c.conn.reject(proto.CodeDuplicate, "another stream is kept")
			return
		}
		s.forget(old)
		old.conn.close()
		s.step(mob.Left{Peer: c.ID()})
	}
	if !s.admit(c) {
		c.conn.reject(proto.CodeBusy, "too many peers")
		if c.dialer == s.self {
			s.step(mob.Unreachable{Peer: c.ID()})
		}
		return
	}
	s.addrs.add(c.host, c.ID(), c.addrs)
	s.sessions.mu.Lock()
	s.byID[c.ID()] = c
	s.sessions.mu.Unlock()
	s.protect(c)
	s.share(c) // before its demands are read
	c.conn.start()
	s.sendName(c)
	s.counts.add(Totals{Joined: 1})
	if c.ofSite() {
		s.site.joined(c.ID())
	}
	s.log.Debug("peer joined", "peer", c.name, "cluster", c.node.Cluster)
	s.step(mob.Joined{Node: c.node, Whole: c.seed})
	s.publishStatus(true)
}

func (s *Swarm) forget(c *session) {
	if s.session(c.ID()) != c {
		return
	}
	s.sessions.mu.Lock()
	delete(s.byID, c.ID())
	s.sessions.mu.Unlock()
	s.counts.add(Totals{Left: 1})
	if c.ofSite() {
		s.site.left(time.Now())
	}
	s.withdrawAll(c)
	if c.unshare != nil {
		c.unshare()
	}
	s.unprotect(c)
	if c.inbound() {
		s.inbound.Release(c.host)
	}
}

// onLeave handles the end of a session.
func (s *Swarm) onLeave(c *session, err error) {
	if s.session(c.ID()) != c {
		return
	}
	s.forget(c)
	s.log.Debug("peer left", "peer", c.name, "cluster", c.node.Cluster, "error", err)
	s.step(mob.Left{Peer: c.ID()})
	s.publishStatus(true)
}

func (s *Swarm) drop(a mob.Drop) {
	c := s.session(a.Peer)
	if c == nil {
		return
	}
	s.log.Log(s.ctx, s.warnings.Level(libpeer.ID(c.ID()), a.Why), "peer dropped", "peer", c.name, "cluster", c.node.Cluster, "reason", a.Why)
	s.forget(c)
	c.conn.closeWithError(a.Code, a.Why)
}
