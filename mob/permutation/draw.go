package permutation

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/proto"
)

// calm is for how long members must not have joined or left before permutations are drawn:
// many come at once.
const calm = 50 * time.Millisecond

// drawn has the permutations that are in force, and the time at which the node is to draw the next ones.
type drawn struct {
	proto.Permutation
	by  proto.PeerID
	due time.Time // zero for not at all
}

// since is the generation from which on others wait for the member of a place.
func (s *State) since(place int) int {
	if place < len(s.drawn.Since) {
		return int(s.drawn.Since[place])
	}
	return 0
}

// drawer reports whether the node is the one to draw permutations.
func (s *State) drawer() bool {
	if !s.have.Full() {
		return false
	}
	for id, m := range s.members {
		if m.joined && m.complete.Full() && id < s.cfg.Self {
			return false
		}
	}
	return true
}

// there lists the node and the joined members, in the order of their ids.
func (s *State) there() []proto.PeerID {
	all := []proto.PeerID{s.cfg.Self}
	for id, m := range s.members {
		if m.joined {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all
}

// membersChanged has permutations drawn soon, if it is for the node to draw them.
func (s *State) membersChanged() {
	s.drawn.due = time.Time{}
	if s.drawer() && !slices.Equal(s.there(), s.topology.Members()) {
		s.drawn.due = s.now.Add(calm)
	}
}

// drawIfDue draws permutations and sends them to all.
func (s *State) drawIfDue() {
	if s.drawn.due.IsZero() || s.now.Before(s.drawn.due) {
		return
	}
	version := s.drawn.Version + 1
	p := &proto.Permutation{Version: version, Seed: s.cfg.Seed + version, Members: s.there()}
	for _, id := range p.Members {
		since := 0
		if place, ok := s.topology.Place(id); ok {
			since = s.since(place)
		} else if s.oldest < len(s.generations) {
			since = s.oldest // the others have begun without it
		}
		p.Since = append(p.Since, uint32(since))
	}
	s.sendAll(p)
	s.adopt(s.cfg.Self, p)
}

// permuted adopts the permutations that a peer has drawn, if they are newer than those in
// force and the node is in them.
func (s *State) permuted(m *member, p *proto.Permutation) {
	if !m.complete.Full() {
		s.drop(m.ID, "permutation of a node that lacks generations")
		return
	}
	if _, ok := slices.BinarySearch(p.Members, m.ID); !ok {
		s.drop(m.ID, "permutation without its sender")
		return
	}
	for _, g := range p.Since {
		if int(g) >= max(len(s.generations), 1) {
			s.drop(m.ID, "permutation with generation %d of %d", g, len(s.generations))
			return
		}
	}
	newer := p.Version > s.drawn.Version || p.Version == s.drawn.Version && m.ID < s.drawn.by
	if _, ok := slices.BinarySearch(p.Members, s.cfg.Self); ok && newer {
		s.adopt(m.ID, p)
	}
}

// adopt puts permutations into force. Members of them that the node does not know are
// skipped.
func (s *State) adopt(by proto.PeerID, p *proto.Permutation) {
	s.drawn = drawn{Permutation: *p, by: by}
	s.topology = NewTopology(p.Seed, p.Members)
	s.schedule = NewSchedule(s.cfg.Strategy, s.cfg.Blocks, len(p.Members))
	s.place, _ = s.topology.Place(s.cfg.Self)
	s.places = make([]*member, len(p.Members))
	for place, id := range p.Members {
		if m := s.members[id]; m != nil && m.joined {
			s.places[place] = m
		}
	}
	s.count()
	s.push()
	if by != s.cfg.Self {
		s.membersChanged()
	}
}
