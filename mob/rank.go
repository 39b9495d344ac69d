package mob

import (
	"slices"

	"github.com/mobgrid/mob/mob/assign"
)

// updateRank computes the node's ranks and shares anew, and matches peers, after members of some
// clusters came or went. What is claimed already stays with the member that claimed it.
func (s *State) updateRank(clusters ...string) {
	s.scheduleConnect()
	for _, l := range s.levels {
		var changed []string // groups of this level
		for _, cluster := range clusters {
			for of, group := range s.groupsOf(cluster) {
				if of == l {
					changed = appendNew(changed, group)
				}
			}
		}
		switch {
		case len(changed) == 0:
		case slices.Contains(changed, l.name) && s.rerank(l):
			s.matchPeers(l, l.others...)
		default:
			s.matchPeers(l, changed...)
		}
	}
}

// rerank computes the node's rank and share in a group, and reports whether they have changed.
func (s *State) rerank(l *level) bool {
	rank, size := 0, 1
	for _, n := range l.members() {
		if n.alive() {
			size++
			if n.ID < s.cfg.Self {
				rank++
			}
		}
	}
	if rank == l.Rank && size == l.Size {
		return false
	}
	l.Group = assign.Group{Rank: rank, Size: size, Share: s.layout.share(rank, size)}
	s.shareChanged = true
	return true
}

// matchPeers finds the peers of some siblings of a group whose shares overlap the node's, which are
// those of which it requests. The members' order at a link is that of their ranks, rotated for each
// link.
func (s *State) matchPeers(l *level, siblings ...string) {
	for _, sibling := range siblings {
		list := l.nodes[sibling]
		if len(list) == 0 || sibling == l.name {
			continue // nobody is left of it, and it may be forgotten
		}
		position := l.Position(l.name, sibling, l.others)
		alive, rank := 0, 0
		for _, n := range list {
			if n.alive() {
				alive++
			}
		}
		first, end := l.Matches(alive)
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
				was := p.matched
				p.matched, p.position = rank >= first && rank < end, position
				if p.pipe.Deep {
					p.matched, p.position = true, 0
				}
				if p.matched && !was && p.near() {
					s.announceAll(p)
				}
			}
			rank++
		}
		if to := l.links[sibling]; to != nil {
			s.updateInterest(to)
		}
	}
}
