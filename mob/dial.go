package mob

import "time"

// maxRestless bounds how long dials wait for members to stop coming and going, in times of
// [Tuning.Calm].
const maxRestless = 10

// scheduleConnect has the node dial once members have stopped coming and going for a moment, which
// is longer where machines are busy. Meanwhile ranks shift, and a peer that is dialled by its rank
// is of no use a moment later.
func (s *State) scheduleConnect() {
	calm := max(s.t.Calm, s.claimDelay(s.site()))
	if s.now.Sub(s.shifted) > calm {
		s.restless = s.now
	}
	s.shifted = s.now
	at := s.now.Add(calm)
	if latest := s.restless.Add(maxRestless * calm); at.After(latest) {
		at = latest
	}
	s.connectAt = at
}

// connect dials the peers of the own site, and rank-matched peers of other sites; of other racks of
// a large site as well.
func (s *State) connect() {
	s.connectAt, s.restless = time.Time{}, s.now
	for _, id := range s.work.Missing() {
		if n := s.byID[id]; n != nil {
			s.dial(n)
		}
	}
	s.dialSite()
	budget := s.t.MaxGlobal
	for _, l := range s.levels {
		for _, sibling := range l.others {
			budget = s.dialMatches(l, sibling, budget)
		}
	}
	s.tryRumours()
}

// dialSite dials the members of the own site.
func (s *State) dialSite() {
	list := s.site().members()
	if most := s.maxLocal(); most < min(len(list), s.t.MaxLocal) {
		s.dialNeighbours(list, most)
		return
	}
	for n := range s.nearest(s.site()) {
		s.dial(n)
	}
}

// dialMatches dials the members of a sibling of a group whose shares overlap the node's, as long as
// the budget lasts, and returns what is left of it.
func (s *State) dialMatches(l *level, sibling string, budget int) int {
	list := l.nodes[sibling]
	alive := make([]*node, 0, len(list))
	for _, n := range list {
		if n.alive() {
			alive = append(alive, n)
		} else {
			s.redial(l, list, n)
		}
	}
	first, end := l.Matches(len(alive))
	for _, n := range alive[first:end] {
		if budget == 0 {
			break
		}
		budget--
		s.dial(n)
	}
	return budget
}

// redial dials a failed member of a sibling of a group, if its rank among all that are known there
// matches the node's.
func (s *State) redial(l *level, sibling []*node, n *node) {
	rank, _ := findNode(sibling, n.ID)
	if first, end := l.Matches(len(sibling)); rank >= first && rank < end {
		s.dial(n)
	}
}

// dial dials a member, after the pause if it has failed.
func (s *State) dial(n *node) {
	if n.peer != nil || n.dialing || n.Banned || n.External {
		return
	}
	if s.now.Before(n.retryAt) {
		if s.connectAt.IsZero() || n.retryAt.Before(s.connectAt) {
			s.connectAt = n.retryAt
		}
		return
	}
	n.dialing = true
	s.do(Dial{Peer: n.ID, Dead: n.DeadAt})
}
