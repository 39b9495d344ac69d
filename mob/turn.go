package mob

import (
	"slices"

	"github.com/mobgrid/mob/mob/session"
	"github.com/mobgrid/mob/mob/timer"
)

// Members of a cluster, and clusters, that wait for the same new piece would all start it at the same time, before their
// claims arrive. So they have an order for each piece, which each computes alone. A node leaves the piece to the ones
// before it until their claims would have arrived.

// endTurns makes deferred pieces available that are due, and fetches that have waited, first to their
// peers.
func (s *State) endTurns() {
	if !s.Due.Expired(timer.Turn, s.Now) {
		return
	}
	for _, p := range s.Peers {
		for i, at := range p.Deferred {
			if s.Now.Before(at) {
				s.Due.Sooner(timer.Turn, at)
				continue
			}
			delete(p.Deferred, i)
			p.Idle = false
			s.Refill(p)
		}
	}
	s.Waiting = slices.DeleteFunc(s.Waiting, func(f *session.Fetch) bool {
		until := f.NotBefore.Add(s.Tuning.Queue)
		switch claimed := s.IsAhead(f); {
		case s.Now.Before(f.NotBefore):
			s.Due.Sooner(timer.Turn, f.NotBefore)
			return false
		case claimed && s.Now.Before(until) && s.MaySend(f.WaitsAt, f):
			s.Due.Sooner(timer.Turn, until)
			s.Refill(f.WaitsAt)
			return false
		case claimed:
			s.unassign(f)
		}
		f.WaitsAt.Ahead--
		s.Refill(f.WaitsAt)
		return true
	})
}
