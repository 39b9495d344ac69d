package mixed

import (
	"cmp"
	"slices"

	"github.com/mobgrid/mob/mob/order"
	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

const (
	// fetchedAtOnce is how many bytes the generations have that a node fetches over the WAN
	// at a time: what is in flight on fast and long links, and room to choose.
	fetchedAtOnce = 8 << 20
	// leastBegun is how many they are in any case: one is decoded while another is
	// fetched.
	leastBegun = 2
)

// begin takes up generations to be fetched over the WAN while few are. Those come first
// that no member is at. One of which a part is claimed comes when nothing else is left:
// what nobody claims of it others may take themselves.
func (s *State) begin() {
	most := max(leastBegun, fetchedAtOnce/(s.cfg.Coding.Blocks*s.cfg.PieceLength))
	for s.first < len(s.gens) && s.gens[s.first].whole {
		s.first++
	}
	under, live := 0, 0
	var clean, claimed []int
	for g := s.first; g < len(s.gens) && live < s.cfg.Coding.Live; g++ {
		gen := &s.gens[g]
		if gen.whole {
			continue
		}
		live++
		left, theirs := s.left(g)
		switch {
		case left == 0: // members have it, or will
		case gen.begun:
			under++
		case !s.there(g):
		case theirs == 0:
			clean = append(clean, g)
		default:
			claimed = append(claimed, g)
		}
	}
	if under == 0 && len(clean) == 0 {
		clean, most = claimed, 1
	}
	if len(clean) > 0 && under < most && s.State.Settling() {
		s.stale = true // what members claim is not known yet
		return
	}
	slices.SortFunc(clean, func(a, b int) int { return cmp.Compare(order.Of(s.salt, a), order.Of(s.salt, b)) })
	for _, g := range clean[:min(len(clean), max(most-under, 0))] {
		s.take(g)
	}
}

// take begins a generation.
func (s *State) take(g int) {
	gen := &s.gens[g]
	if gen.at, gen.round = s.now, s.round+1; !gen.begun {
		gen.begun = true
		s.under = append(s.under, g)
		s.fetched = s.now
	}
}

// giveBack leaves a generation to others: what was promised of it will not come from here.
// No far peer has any of it, or the State was not told who has.
func (s *State) giveBack(g int) {
	gen := &s.gens[g]
	gen.begun, gen.open, gen.asked, s.stale = false, false, false, true
	s.under = slices.DeleteFunc(s.under, func(h int) bool { return h == g })
	var rs []proto.Range
	for i, end := s.source(g); i < end; i++ {
		if s.promised.Remove(i) {
			rs = pieceset.Append(rs, i)
		}
	}
	s.takeBack(rs)
}

// left counts the source blocks of a generation that no member has or claims, and theirs
// the blocks that they claim.
func (s *State) left(g int) (left, theirs int) {
	first, end := s.source(g)
	for i := first; i < first+s.cfg.Coding.Names; i++ {
		switch {
		case s.claims[i] > 0:
			theirs++
		case i < end && s.holders[i] == 0:
			left++
		}
	}
	return left, theirs
}

// there says whether a far peer has something of a generation.
func (s *State) there(g int) bool {
	first, end := g*s.cfg.Coding.Names, (g+1)*s.cfg.Coding.Names
	for _, r := range s.far {
		if r.have.CountIn(first, end) > 0 {
			return true
		}
	}
	return false
}

// lacking says whether the mob lacks blocks of a generation: fewer are here, or with members,
// or claimed by them, than it takes.
func (s *State) lacking(g int) bool {
	first, end := s.source(g)
	blocks, about := end-first, 0
	for i := first; i < first+s.cfg.Coding.Names; i++ {
		if s.State.Has(i) || s.holders[i] > 0 || s.claims[i] > 0 {
			about++
		}
	}
	return about < blocks
}
