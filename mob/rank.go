package mob

import (
	"slices"

	"github.com/mobgrid/mob/mob/ranks"
)

// updateRank computes the node's rank and share anew, and matches peers, after members of some
// clusters came or went. What is claimed already stays with the member that claimed it.
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
	s.share = s.picker.Share(rank, size)
	s.matchPeers(s.others...)
	s.shareChanged = true
}

// matchPeers finds the peers of some clusters whose shares overlap the node's, which are those of
// which it requests. The members' order at a link is that of their ranks, rotated for each link.
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

// shareOf returns the share of a local peer.
func (s *State) shareOf(p *peer) Share {
	rank, self := 0, s.cfg.Self < p.ID
	for _, n := range s.nodes[s.cfg.Cluster] {
		if n.ID >= p.ID {
			break
		}
		if n.alive() {
			rank++
		}
	}
	if self {
		rank++
	}
	if rank >= s.size {
		return Share{} // it is not alive
	}
	return s.picker.Share(rank, s.size)
}
