package swarm

import (
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// event is an event for the loop. apply runs on the loop's goroutine, and must not wait.
type event interface{ apply(*Swarm) }

// inboxSize is the number of queued events beyond which senders block.
const inboxSize = 1024

type (
	// strategyEvent is an event for the strategy. If it is about a session, from is that
	// session: the event is dropped if the session was replaced or ended before.
	strategyEvent struct {
		event mob.Event
		from  *session
	}
	// joined is a new session.
	joined struct{ session *session }
	// left is the end of a session.
	left struct {
		session *session
		err     error
	}
	// unreachable is a member whose dial failed.
	unreachable struct {
		peer proto.PeerID
		err  error
	}
	// learned are members that a tracker named, with the names of their hosts if it knows them.
	learned struct{ hosts []proto.Host }
	// named are members that a peer named.
	named struct {
		hosts []proto.Host
		from  *nodePeer
	}
)

func (e strategyEvent) apply(s *Swarm) {
	if e.from == nil || s.session(e.from.ID()) == e.from {
		s.step(e.event)
	}
}

func (e joined) apply(s *Swarm) { s.onJoin(e.session) }

func (e left) apply(s *Swarm) { s.onLeave(e.session, e.err) }

func (e unreachable) apply(s *Swarm) {
	s.addrs.forget(e.peer)
	s.site.failed(e.peer, e.err)
	s.step(mob.Unreachable{Peer: e.peer})
}

func (e learned) apply(s *Swarm) { s.onMembers(e.hosts) }

func (e named) apply(s *Swarm) { s.onUnverified(e.from, e.hosts) }

// post hands an event to the loop. It blocks while the loop is behind, which applies
// back-pressure to readers of the network.
func (s *Swarm) post(e event) {
	select {
	case s.inbox <- e:
	case <-s.ctx.Done():
		if j, ok := e.(joined); ok {
			j.session.conn.close()
		}
	}
}
