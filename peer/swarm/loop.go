package swarm

import (
	"net/netip"
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/payload"
	"github.com/mobgrid/mob/proto"
	"github.com/mobgrid/mob/proto/reach"
)

// loop runs the strategy until the swarm ends.
func (s *Swarm) loop() {
	tick := time.NewTimer(0)
	defer tick.Stop()
	due := time.Now() // the next tick, which events do not put off
	for _, piece := range s.cfg.Unreadable {
		s.step(mob.Withheld{Range: s.codec.Numbers(piece)})
	}
	for {
		select {
		case <-s.ctx.Done():
			for _, c := range s.connections.sessions {
				s.forget(c) // its connection ends with the context
			}
			return
		case e := <-s.inbox:
			e()
		case <-tick.C:
		}
		over := !time.Now().Before(due)
		if over {
			s.tick()
		}
		if at := time.Now().Add(s.strategy.Wake()); over || at.Before(due) {
			due = at
		}
		tick.Reset(time.Until(due))
	}
}

// inboxSize is the number of queued events beyond which post blocks.
const inboxSize = 1024

// post has the loop call an event, unless the swarm has ended. It blocks while the loop is behind, which
// applies back-pressure to readers of the network.
func (s *Swarm) post(event func()) {
	select {
	case s.inbox <- event:
	case <-s.ctx.Done():
	}
}

func (s *Swarm) join(c *session) { s.post(func() { s.onJoin(c) }) }

// tick sends the strategy a Tick, after all queued events.
func (s *Swarm) tick() {
	for range len(s.inbox) {
		(<-s.inbox)()
	}
	s.step(mob.Tick{})
	s.publishStatus(false)
}

// step hands an event to the strategy and carries out the actions that it returns.
func (s *Swarm) step(ev mob.Event) {
	for _, a := range s.strategy.Step(time.Now(), ev) {
		switch a := a.(type) {
		case mob.Send:
			s.send(a)
		case mob.Introduce:
			s.introduce(a)
		case mob.Dial:
			s.dial(a.Peer, a.Dead)
		case mob.Drop:
			s.drop(a)
		case mob.Push:
			s.push(a)
		case mob.Discard:
			s.wg.Go(func() { s.workers.Queue(s.ctx, &payload.Block{Lane: uint32(a.Piece)}) })
		case mob.Finished:
			s.AnnounceSoon()
			s.wg.Go(func() { s.cfg.Finished(s) })
		}
	}
}

// send sends a peer a message. A limit may hold a request back.
func (s *Swarm) send(a mob.Send) {
	c := s.session(a.Peer)
	if c == nil {
		return
	}
	switch m := a.Message.(type) {
	case *proto.Request:
		s.request(c, m, a.Made)
		return
	case *proto.Cancel:
		if s.withdraw(c, m.Span) {
			return
		}
		c.pending.Cancel(m.Span)
	}
	c.conn.send(a.Message)
}

// push queues a block that the peer did not request.
func (s *Swarm) push(a mob.Push) {
	if c := s.nodePeer(a.Peer); c != nil {
		c.uploads.Add(s.pusher.Push(a))
	}
}

// onJoin adds a new session. Of two sessions with one peer that were dialed concurrently both sides keep the
// one that the lesser id dialed, and otherwise the newer one: the peer has given up the older, which may be
// silent after a network failure.
func (s *Swarm) onJoin(c *session) {
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
	s.connections.Lock()
	s.connections.sessions[c.ID()] = c
	s.connections.Unlock()
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
	s.connections.Lock()
	delete(s.connections.sessions, c.ID())
	s.connections.Unlock()
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
		s.admission.inbound.Release(c.host)
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

func (s *Swarm) onUnreachable(id proto.PeerID, err error) {
	s.addrs.forget(id)
	s.site.failed(id, err)
	s.step(mob.Unreachable{Peer: id})
}

func (s *Swarm) drop(a mob.Drop) {
	c := s.session(a.Peer)
	if c == nil {
		return
	}
	s.log.Info("peer dropped", "peer", c.name, "cluster", c.node.Cluster, "reason", a.Why)
	s.forget(c)
	c.conn.closeWithError(a.Code, a.Why)
}

// onMembers passes members that a tracker named to the strategy, and records their addresses.
func (s *Swarm) onMembers(hosts []proto.Host) {
	nodes := make([]mob.Node, 0, len(hosts))
	for i := range hosts {
		if h := &hosts[i]; s.isOther(h.ID) {
			s.addrs.add(netip.Addr{}, h.ID, h.Addrs)
			if len(s.addrs.of(h.ID)) > 0 { // as many as the book holds, see dropped
				s.byTracker.Store(h.ID, true)
			}
			if proto.SharedParts(h.Cluster, s.cfg.Cluster) > 0 && s.session(h.ID) == nil {
				s.site.named(h.ID, time.Now())
			}
			nodes = append(nodes, mob.Node{ID: h.ID, Cluster: h.Cluster, Host: h.Name})
		}
	}
	s.step(mob.Learned{Nodes: nodes})
}

func (s *Swarm) onUnverified(from *nodePeer, hosts []proto.Host) {
	nodes := make([]mob.Node, 0, len(hosts))
	for i := range hosts {
		h := &hosts[i]
		if !s.isOther(h.ID) {
			continue
		}
		news := s.addrs.addUnverified(from.ID(), h.ID, reach.FromPeer(h.Addrs, from.remoteIP()))
		if news || h.Name != "" && len(s.addrs.of(h.ID)) > 0 {
			nodes = append(nodes, mob.Node{ID: h.ID, Cluster: h.Cluster, Host: h.Name})
		}
	}
	s.step(mob.Learned{Nodes: nodes, Hearsay: true})
}

// isOther reports whether an id is a valid one of another node.
func (s *Swarm) isOther(id proto.PeerID) bool {
	_, err := libpeer.IDFromBytes([]byte(id))
	return err == nil && id != s.self
}

func (s *Swarm) introduce(a mob.Introduce) {
	c := s.session(a.Peer)
	if c == nil {
		return
	}
	members := make([]proto.Member, 0, len(a.Members))
	var hosts []proto.Host
	for _, n := range a.Members {
		addrs := s.addrs.of(n.ID)
		switch {
		case len(addrs) == 0:
		case n.Host != "" && c.named:
			hosts = append(hosts, proto.Host{Name: n.Host, ID: n.ID, Cluster: n.Cluster, Addrs: addrs})
		default:
			members = append(members, proto.Member{ID: n.ID, Cluster: n.Cluster, Addrs: addrs})
		}
	}
	c.conn.send(&proto.Members{Members: members})
	if len(hosts) > 0 {
		c.conn.send(&proto.Hosts{Hosts: hosts})
	}
}
