package mob

import "slices"

// minLocal is how many local peers a node dials in any case, if there are as many. A graph in which each
// node has chosen so many others at random stays in one piece, even if half of them are gone.
const minLocal = 4

// maxLocal returns how many local peers the node dials.
func (s *State) maxLocal() int {
	if s.t.Session <= 0 || slices.ContainsFunc(s.levels, func(l *level) bool { return len(l.others) > 0 }) {
		return s.t.MaxLocal
	}
	worth := s.cfg.Length / int64(s.t.Session)
	return int(min(int64(s.t.MaxLocal), max(minLocal, worth)))
}

// dialNeighbours dials random members of the own cluster, unless the node has so many local peers already.
// Those who dialled it count. A node that fetches nothing dials nobody: who needs it dials it.
func (s *State) dialNeighbours(members []*node, most int) {
	if s.complete {
		return
	}
	var others []*node
	for _, n := range members {
		switch {
		case n.dialing || n.peer != nil && !n.silent:
			most--
		case n.peer == nil:
			others = append(others, n)
		}
	}
	for len(others) > 0 && most > 0 {
		i, last := s.rng.IntN(len(others)), len(others)-1
		n := others[i]
		others[i], others = others[last], others[:last]
		if s.dial(n); n.dialing { // else it has failed before
			most--
		}
	}
}
