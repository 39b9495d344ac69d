package mob

import (
	"slices"

	"github.com/mobgrid/mob/mob/ranks"
)

// reshare computes the own rank and share anew after members of some clusters
// came or went. What is claimed already stays with who claimed it.
func (s *State) reshare(changed ...string) {
	s.connectSoon()
	if !slices.Contains(changed, s.cfg.Cluster) {
		s.match(changed...)
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
	s.match(s.others...)
	s.reshared = true
}

// tellShare has the global peers send the news of the new share. Members come and
// go many at a time, and nothing waits for it.
func (s *State) tellShare() {
	if !s.reshared {
		return
	}
	s.reshared = false
	for _, p := range s.peers {
		if p.greeted && p.wished == share {
			s.sendWant(p)
		}
	}
}

// match finds the peers whose shares overlap the node's: only those it asks. The
// members' order at a link is that of their ranks, turned for each link.
func (s *State) match(clusters ...string) {
	for _, cluster := range clusters {
		list := s.nodes[cluster]
		if len(list) == 0 {
			continue // nobody is left of it, and it may be forgotten
		}
		place := (s.rank + ranks.Turn(s.cfg.Cluster, cluster, s.others, s.size)) % s.size
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
				s.revive(p)
				p.matched, p.place = rank >= first && rank < end, place
			}
			rank++
		}
		if l := s.links[cluster]; l != nil {
			s.tellCrew(l)
		}
	}
}
