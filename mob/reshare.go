package mob

import (
	"slices"

	"github.com/mobgrid/mob/mob/ranks"
)

// reshare computes the own rank and share anew after members of some clusters
// came or went. What is claimed already stays with who claimed it.
func (s *State) updateRank(changed ...string) {
	s.scheduleConnect()
	if !slices.Contains(changed, s.cfg.Cluster) {
		s.matchPeers(changed...)
		return
	}
	rank, size := 0, 1
	for _, n := range s.nodes[s.cfg.Cluster] {
		if n.alive() {
			size++
			if n.ID < s.cfg.Self {
				rank++
			}
		}
	}
	if rank == s.rank && size == s.size {
		return
	}
	s.rank, s.size = rank, size
	s.share.first, s.share.end = s.picker.Share(rank, size)
	s.matchPeers(s.others...)
	s.shareChanged = true
}

// sendShare has the global peers send the news of the new share. Members come and
// go many at a time, and nothing waits for it.
func (s *State) sendShare() {
	if !s.shareChanged {
		return
	}
	s.shareChanged = false
	for _, p := range s.peers {
		if p.interestSent && p.interest == shareInterest {
			s.sendWant(p)
		}
	}
}

// match finds the peers whose shares overlap the node's: only those it asks. The
// members' order at a link is that of their ranks, turned for each link.
func (s *State) matchPeers(clusters ...string) {
	for _, cluster := range clusters {
		list := s.nodes[cluster]
		if len(list) == 0 {
			continue // nobody is left of it, and it may be forgotten
		}
		position := (s.rank + ranks.Turn(s.cfg.Cluster, cluster, s.others, s.size)) % s.size
		alive, rank := 0, 0
		for _, n := range list {
			if n.alive() {
				alive++
			}
		}
		first, end := ranks.Matches(s.rank, s.size, alive)
		for _, n := range list {
			p := n.peer
			if !n.alive() {
				if p != nil {
					p.matched = false
				}
				continue
			}
			if p != nil {
				s.wake(p)
				p.matched, p.position = rank >= first && rank < end, position
			}
			rank++
		}
		if l := s.links[cluster]; l != nil {
			s.updateInterest(l)
		}
	}
}
