package mob

// link is the way to another cluster.
type link struct {
	window
	peers []*peer // that joined, sorted by id
}

// piecesAtOnce is about how many pieces a mob has on their way over the WAN where the
// links are the limit: few, since only whole ones are passed on. With few links
// several members work on each, whose windows together follow it better.
const piecesAtOnce = 12

// leastActive is how many members of a mob begin pieces over a link in any case.
func (s *State) leastActive() float64 { return float64(max(1, piecesAtOnce/max(1, len(s.others)))) }

// linkTo is the way to a cluster.
func (s *State) linkTo(cluster string) *link {
	l := s.links[cluster]
	if l == nil {
		l = &link{window: newWindow(windowLimits{queue: s.t.Queue, minBlock: s.t.MinBlock, max: s.t.MaxWindow})}
		s.links[cluster] = l
	}
	return l
}
