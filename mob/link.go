package mob

import "github.com/mobgrid/mob/mob/window"

// link is the way to another cluster.
type link struct {
	window.Window
	peers []*peer // that joined, sorted by id
}

// atOnce is about how many pieces a mob has on their way over the WAN where the
// links are the limit: few, since only whole ones are passed on. With few links
// several members work on each, whose windows together follow it better.
const atOnce = 12

// leastCrew is how many members of a mob begin pieces over a link in any case.
func (s *State) leastCrew() float64 { return float64(max(1, atOnce/max(1, len(s.others)))) }

// linkTo is the way to a cluster.
func (s *State) linkTo(cluster string) *link {
	l := s.links[cluster]
	if l == nil {
		l = &link{Window: window.New(window.Limits{Queue: s.t.Queue, MinBlock: s.t.MinBlock, Max: s.t.MaxWindow})}
		s.links[cluster] = l
	}
	return l
}
