package mixed

import (
	"maps"
	"slices"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

// gate hides from the State what far peers have of generations that are not open. Those
// that it began before anybody was to be told stay open.
func (s *State) gate() {
	if s.gated {
		return
	}
	s.gated = true
	for g := s.first; g < len(s.gens); g++ {
		if gen := &s.gens[g]; gen.asked && !gen.whole {
			s.take(g)
			gen.open = true
		}
	}
	for _, id := range sorted(s.far) {
		r := s.far[id]
		if r == nil {
			continue
		}
		if rs := s.ranges(r.have, s.which(true)); len(rs) > 0 {
			s.pass(mob.Received{Peer: id, Message: &proto.Have{Drop: rs}})
		}
	}
}

// ungate tells the State what was hidden.
func (s *State) ungate() {
	if s.gated {
		hidden := s.which(true)
		s.gated = false
		s.showAll(hidden)
	}
}

// shut says whether the State is not told who has a generation, and not to fetch it over
// the WAN.
func (s *State) shut(g int) bool { return s.gated && !s.gens[g].open }

// which are the generations that are shut, or those that are not.
func (s *State) which(shut bool) (gens []int) {
	for g := range s.gens {
		if s.shut(g) == shut {
			gens = append(gens, g)
		}
	}
	return gens
}

// open tells the State who has a generation, and which members claim a part of it.
func (s *State) open(g int) {
	s.gens[g].open = true
	s.showAll([]int{g})
}

// openDue opens the generations that were begun of which all members have heard: what they
// claimed before that is known then. Who is silent is waited for once.
func (s *State) openDue() {
	s.openAt = time.Time{}
	for _, g := range slices.Clone(s.under) {
		gen := &s.gens[g]
		if gen.open {
			continue
		}
		at := gen.at.Add(hearing)
		late := !s.now.Before(at)
		switch left, _ := s.left(g); {
		case left == 0:
			s.giveBack(g) // others were first
		case s.answered(gen.round):
			s.open(g)
		case late:
			s.markSilent(gen.round)
			s.open(g)
		case s.openAt.IsZero() || at.Before(s.openAt):
			s.openAt = at
		}
	}
}

// showAll tells the State of some generations what it was not told of them.
func (s *State) showAll(gens []int) {
	for _, id := range sorted(s.members) {
		o := s.members[id]
		if o == nil { // the State has shown it out
			continue
		}
		if rs := s.ranges(o.claims, gens); len(rs) > 0 && !s.dumb(o.heard) {
			s.pass(mob.Received{Peer: id, Message: &proto.Have{Claim: rs}})
		}
	}
	for _, id := range sorted(s.far) {
		if r := s.far[id]; r != nil {
			s.show(id, r, gens)
		}
	}
}

// ranges are the blocks of a set that are of some generations.
func (s *State) ranges(set *pieceset.Set, gens []int) (rs []proto.Range) {
	for _, g := range gens {
		first, end := g*s.cfg.Coding.Names, (g+1)*s.cfg.Coding.Names
		if set.CountIn(first, end) == 0 {
			continue
		}
		for i := first; i < end; i++ {
			if set.Has(i) {
				rs = pieceset.Append(rs, i)
			}
		}
	}
	return rs
}

// sorted are the keys of a map in order: what happens must not depend on that of a map.
func sorted[V any](m map[proto.PeerID]V) []proto.PeerID { return slices.Sorted(maps.Keys(m)) }
