package peer

import (
	"time"

	libpeer "github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// maxSessions bounds the peers of one swarm that a node talks to.
const maxSessions = 2048

// loop is the only user of the State. It returns when the swarm ends.
func (s *swarm) loop() {
	tick := time.NewTimer(0)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			s.farewell()
			return
		case in := <-s.inbox:
			s.handle(in)
		case <-tick.C:
			s.step(mob.Tick{})
			s.snapshot(false)
		}
		tick.Reset(s.mind.Wake())
	}
}

func (s *swarm) handle(in input) {
	switch {
	case in.joined:
		s.admit(in.sess)
	case in.ended:
		s.part(in.sess, in.err)
	case in.told:
		s.meet(in.members)
	case in.do != nil:
		in.do()
	case in.sess != nil && s.session(in.sess.id()) != in.sess:
		// The session was replaced or dropped while its event was on its way.
	default:
		s.step(in.ev)
	}
}

// step asks the State what to do, and does it.
func (s *swarm) step(ev mob.Event) {
	for _, a := range s.mind.Step(time.Now(), ev) {
		switch a := a.(type) {
		case mob.Send:
			s.send(a)
		case mob.Introduce:
			s.introduce(a)
		case mob.Dial:
			s.dial(a.Peer)
		case mob.Drop:
			s.drop(a)
		case mob.Push:
			s.push(a)
		case mob.Finished:
			s.announceSoon()
			s.wg.Go(func() { s.t.complete(s) })
		}
	}
}

func (s *swarm) send(a mob.Send) {
	c := s.session(a.Peer)
	if c == nil {
		return
	}
	switch m := a.Message.(type) {
	case *proto.Request:
		c.asked.Add(m.Span)
	case *proto.Cancel:
		c.asked.Cancel(m.Span)
	}
	c.line.send(a.Message)
}

// push has a block sent that nobody asked for. Where the peer has left, the State hears
// of that.
func (s *swarm) push(a mob.Push) {
	if c := s.native(a.Peer); c != nil {
		c.upload.Add(s.form.Gossip.Push(a))
	}
}

// admit takes a new session into the swarm. Of two with one peer, both sides
// keep the one that the lesser id dialled, and of two of those the newer.
func (s *swarm) admit(c *session) {
	if old := s.session(c.id()); old != nil {
		if old.dialer < c.dialer {
			c.line.refuse(proto.CodeDuplicate, "another stream is kept")
			return
		}
		s.forget(old)
		old.line.close()
		s.step(mob.Left{Peer: c.id()})
	}
	if s.sessionCount() >= maxSessions {
		c.line.refuse(proto.CodeBusy, "too many peers")
		return
	}
	s.book.Add(c.id(), c.addrs)
	s.sessions.Lock()
	s.sessions.m[c.id()] = c
	s.sessions.Unlock()
	c.line.start()
	s.log.Debug("peer joined", "peer", c.name, "cluster", c.node.Cluster)
	s.step(mob.Joined{Node: c.node, Whole: c.whole})
	s.snapshot(true)
}

func (s *swarm) forget(c *session) {
	s.sessions.Lock()
	defer s.sessions.Unlock()
	if s.sessions.m[c.id()] == c {
		delete(s.sessions.m, c.id())
	}
}

// part notes the end of a session.
func (s *swarm) part(c *session, err error) {
	if s.session(c.id()) != c {
		return
	}
	s.forget(c)
	s.log.Debug("peer left", "peer", c.name, "cluster", c.node.Cluster, "error", err)
	s.step(mob.Left{Peer: c.id()})
	s.snapshot(true)
}

// drop carries out the State's wish to end a session.
func (s *swarm) drop(a mob.Drop) {
	c := s.session(a.Peer)
	if c == nil {
		return
	}
	s.log.Info("peer dropped", "peer", c.name, "cluster", c.node.Cluster, "why", a.Why)
	s.forget(c)
	c.line.dismiss(a.Code, a.Why)
}

// meet takes in members that others tell of.
func (s *swarm) meet(ms []proto.Member) {
	nodes := make([]mob.Node, 0, len(ms))
	for i := range ms {
		if ms[i].ID == s.node.self() {
			continue
		}
		if _, err := libpeer.IDFromBytes([]byte(ms[i].ID)); err != nil {
			continue
		}
		s.book.Add(ms[i].ID, ms[i].Addrs)
		nodes = append(nodes, mob.Node{ID: ms[i].ID, Cluster: ms[i].Cluster})
	}
	s.step(mob.Learned{Nodes: nodes})
}

func (s *swarm) introduce(a mob.Introduce) {
	c := s.session(a.Peer)
	if c == nil {
		return
	}
	ms := make([]proto.Member, 0, len(a.Members))
	for _, n := range a.Members {
		if addrs := s.book.Addrs(n.ID); len(addrs) > 0 {
			ms = append(ms, proto.Member{ID: n.ID, Cluster: n.Cluster, Addrs: addrs})
		}
	}
	c.line.send(&proto.Members{Members: ms})
}

// farewell ends every session, those too that were not admitted yet.
func (s *swarm) farewell() {
	s.sessions.RLock()
	defer s.sessions.RUnlock()
	for _, c := range s.sessions.m {
		c.line.close()
	}
	for {
		select {
		case in := <-s.inbox:
			if in.joined {
				in.sess.line.close()
			}
		default:
			return
		}
	}
}
