package sim

import (
	"time"

	"github.com/mobgrid/mob/mob"
)

// askTracker gives the node members, and again at intervals.
func (n *node) askTracker(s *sim) {
	if !n.alive {
		return
	}
	if end := s.cutUntil(n, n); end > 0 {
		s.later(end+time.Duration(s.rng.Int64N(int64(announceInterval))), call(func() { n.askTracker(s) }))
		return
	}
	var handout, others []mob.Node
	for _, m := range s.nodes {
		switch {
		case !m.alive || m == n:
		case m.site == n.site || s.cfg.Handout == 0:
			handout = append(handout, m.Node)
		default:
			others = append(others, m.Node)
		}
	}
	s.rng.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	handout = append(handout, others[:min(s.cfg.Handout, len(others))]...)
	n.step(s, mob.Learned{Nodes: handout})
	s.later(s.now+announceInterval, call(func() { n.askTracker(s) }))
}
