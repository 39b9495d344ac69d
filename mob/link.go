package mob

// link is the way to another cluster, which all members of the node's cluster share. Each may
// request of its matched peers there, but only the active members begin pieces: those that come
// first in the order of the cluster at that link.
type link struct {
	window
	peers []*peer // that joined, sorted by id
}

// piecesAtOnce is about how many pieces a cluster has on their way over the WAN where the links
// are the limit. They are few, since only whole ones are passed on. With few links several
// members are at each, whose windows together follow it better.
const piecesAtOnce = 12

// leastActive returns how many members are active at a link in any case.
func (s *State) leastActive() float64 { return float64(max(1, piecesAtOnce/max(1, len(s.others)))) }

// linkTo returns the link to a cluster.
func (s *State) linkTo(cluster string) *link {
	l := s.links[cluster]
	if l == nil {
		l = &link{window: newWindow(windowLimits{queue: s.t.Queue, minBlock: s.t.MinBlock, max: s.t.MaxWindow})}
		s.links[cluster] = l
	}
	return l
}

// isActive reports whether the node may begin pieces with a peer: on the LAN, or as an active
// member at the link.
func (s *State) isActive(p *peer) bool {
	return p.local || p.matched && p.position < s.activeMembers(p.link)
}

func (s *State) activeMembers(l *link) int { return int(max(l.active, s.leastActive())) }

// activeOver returns how many members may begin pieces over the link to a peer, as the node sees
// it.
func (s *State) activeOver(p *peer) int { return min(s.activeMembers(p.link), s.size) }
