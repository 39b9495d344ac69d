package mob

import (
	"cmp"
	"slices"
	"time"
)

func (s *table) add(p *peer) {
	s.peers = insertPeer(s.peers, p)
	s.joined[p.ID] = p
}

func (s *table) remove(p *peer) {
	delete(s.joined, p.ID)
	s.peers, s.ready = removePeer(s.peers, p), removePeer(s.ready, p)
	if p.link != nil {
		p.link.peers = removePeer(p.link.peers, p)
	}
}

// sortReady puts the peers first that have the rest of a piece to be requested, the oldest piece
// first, and then sorts by ID. Peers may share a link's window, and new pieces of one must not take
// the room of a started one.
func (s *table) sortReady() {
	begun := func(p *peer) time.Time {
		if p.local || !p.hasStarted() || p.current.Requested() {
			return s.now.Add(1) // last
		}
		return p.current.started
	}
	slices.SortFunc(s.ready, func(p, q *peer) int { return cmp.Or(begun(p).Compare(begun(q)), comparePeers(p, q)) })
}

// wake has the next fill look at a peer: it may have room, or something to be requested.
func (s *table) wake(p *peer) {
	if !p.ready {
		p.ready = true
		s.ready = append(s.ready, p)
	}
}

// wakeSharing wakes a peer that has more room, and those that share its link.
func (s *table) wakeSharing(p *peer) {
	if p.link == nil {
		s.wake(p)
		return
	}
	for _, q := range p.link.peers {
		s.wake(q)
	}
}

// reconsider wakes the peers that have a piece, which may be requested now.
func (s *table) reconsider(i int) {
	for _, p := range s.peers {
		if p.Have.Has(i) {
			p.idle = false
			s.wake(p)
		}
	}
}

// reconsiderAll wakes all peers.
func (s *table) reconsiderAll() {
	for _, p := range s.peers {
		p.idle = false
		s.wake(p)
	}
}

// held reports whether a peer other than p that is not rationed has a piece to be requested.
func (s *table) held(p *peer, i int) bool {
	for _, q := range s.peers {
		if q != p && q.matched && !q.Stalled && q.Have.Has(i) && !q.Rationed {
			return true
		}
	}
	return false
}

// measureAnswers computes the answer time of a group: the median of the longest times that its peers
// take to answer. A mean would have every member wait for the claims of a single slow one.
func (s *table) measureAnswers(l *level) {
	var times []time.Duration
	for _, p := range s.peers {
		if t := p.Pings.Most(); t > 0 && p.shared > l.Index {
			times = append(times, t)
		}
	}
	slices.Sort(times)
	l.AnswerTime = times[(len(times)-1)/2]
}

func comparePeers(p, q *peer) int { return cmp.Compare(p.ID, q.ID) }

func insertPeer(ps []*peer, p *peer) []*peer {
	i, _ := slices.BinarySearchFunc(ps, p, comparePeers)
	return slices.Insert(ps, i, p)
}

func removePeer(ps []*peer, p *peer) []*peer {
	return slices.DeleteFunc(ps, func(q *peer) bool { return q == p })
}
