package mixed

import (
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

// remote is a peer of another cluster.
type remote struct {
	have  *pieceset.Set
	heard time.Time // when it last said anything
	late  bool      // the State was not told of something, since it was silent
}

// heardFar takes in what a far peer tells.
func (s *State) heardFar(r *remote, m *proto.Have) *proto.Have {
	told := *m
	told.Have = nil
	n := r.have.Cap()
	pieceset.Each(m.Drop, n, func(i int) { r.have.Remove(i) })
	pieceset.Each(m.Have, n, func(i int) {
		s.stale = r.have.Add(i) || s.stale
		if !s.shut(s.of(i)) {
			told.Have = pieceset.Append(told.Have, i)
		}
	})
	return &told
}

// show tells the State what a far peer has of some generations. It must not take that for a
// sign of life.
func (s *State) show(id proto.PeerID, r *remote, gens []int) {
	rs := s.ranges(r.have, gens)
	switch {
	case len(rs) == 0:
	case s.dumb(r.heard):
		r.late = true
	default:
		s.pass(mob.Received{Peer: id, Message: &proto.Have{Have: rs}})
	}
}

// dumb says whether a peer that was last heard at a time has been silent since for longer
// than one ever is that is there: peers are pinged more often.
func (s *State) dumb(heard time.Time) bool { return s.now.Sub(heard) > s.cfg.Tuning.Dead/2 }
