package mob

import "time"

// A node that was cut off, as when its cable was unplugged, knows little of its cluster when it is
// back: the others have gone on. Its connections recover in any order, since TCP sends again what was
// lost after ever longer times, and those that it gave up are dialled anew. So a peer of another
// cluster may be back first, and must not be asked for what members have by now.

// heard notes a sign of life of any peer.
func (s *State) heard() {
	if s.isSilence() && !s.heardAt.IsZero() {
		s.reunite(nil)
	}
	s.heardAt = s.now
}

// isSilence reports whether nobody has been heard for as long as makes a local peer count as silent.
func (s *State) isSilence() bool { return s.now.Sub(s.heardAt) > 2*s.t.Stall+s.site().answerTime }

// inconclusive is how many sessions with an awaited member may end without a word, as happens when both
// sides dial at once, or to one that the other side has given up.
const inconclusive = 3

// reunite has a node that was cut off wait for its cluster before it fetches over the WAN: until each
// member that it knows, but for one, has answered, or cannot be reached by a dial that begins now or
// later.
func (s *State) reunite(but *node) {
	s.reunited = s.now
	for _, n := range s.site().members() {
		if n == but || n.Banned {
			continue
		}
		n.awaited, n.stale = inconclusive, n.dialing
		n.failed, n.retryAt = false, s.now
		s.membersChanged = true
		if n.peer != nil {
			s.sendPing(n.peer)
		}
	}
	s.scheduleConnect()
}

// endWait notes that a member has answered, or cannot be reached.
func (s *State) endWait(n *node) {
	n.awaited, n.stale = 0, false
	s.membersChanged = true
}

// answersNone reports whether an awaited member has left the ping unanswered that it was sent when the
// node was back, or when it joined after that.
func (s *State) answersNone(p *peer, limit time.Duration) bool {
	n := s.byID[p.ID]
	return n != nil && n.awaited > 0 && s.now.Sub(s.reunited) > limit && s.now.Sub(p.joinedAt) > limit
}
