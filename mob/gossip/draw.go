package gossip

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/permutation"
	"github.com/mobgrid/mob/proto"
)

// drawn is the permutation that holds, and when the next is due.
type drawn struct {
	version uint64
	by      proto.PeerID
	members []proto.PeerID // in their order
	since   []uint32
	due     time.Time // zero unless the node is to draw one
}

// calm is for how long members must not have come or gone before a permutation is
// drawn: they come in numbers.
const calm = 50 * time.Millisecond

// drawer says whether the node is the one to draw permutations.
func (s *State) drawer() bool {
	if !s.have.Full() {
		return false
	}
	for id, m := range s.members {
		if m.joined && m.decoded.Full() && id < s.cfg.Self {
			return false
		}
	}
	return true
}

// there lists who is there, in the order of their ids.
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

// membersChanged has a permutation drawn soon, if that is the node's business.
func (s *State) membersChanged() {
	if s.drawn.due = (time.Time{}); s.drawer() && !slices.Equal(s.there(), s.drawn.members) {
		s.drawn.due = s.now.Add(calm)
	}
}

// drawIfDue draws a permutation and hands it out.
func (s *State) drawIfDue() {
	d := &s.drawn
	if d.due.IsZero() || s.now.Before(d.due) {
		return
	}
	p := &proto.Permutation{Version: d.version + 1, Seed: s.cfg.Seed + d.version + 1, Members: s.there()}
	for _, id := range p.Members {
		since := uint32(0)
		if i, ok := slices.BinarySearch(d.members, id); ok {
			since = d.since[i]
		} else if oldest := s.gossip.Oldest(); id != s.cfg.Self && oldest < len(s.cfg.Blocks) {
			since = uint32(oldest) // it comes when others have begun
		}
		p.Since = append(p.Since, since)
	}
	s.sendAll(p)
	s.adopt(s.cfg.Self, p)
}

// permuted takes a permutation of a peer, if it is newer than the one that holds, and
// the node is in it. Who draws must have everything.
func (s *State) permuted(m *member, p *proto.Permutation) {
	if !m.decoded.Full() {
		s.drop(m.ID, "permutation of a node that has not everything")
		return
	}
	if _, ok := slices.BinarySearch(p.Members, m.ID); !ok {
		s.drop(m.ID, "permutation of a node that is not in it")
		return
	}
	for _, g := range p.Since {
		if int(g) >= max(len(s.cfg.Blocks), 1) {
			s.drop(m.ID, "permutation with generation %d of %d", g, len(s.cfg.Blocks))
			return
		}
	}
	d := &s.drawn
	newer := p.Version > d.version || p.Version == d.version && m.ID < d.by
	if _, ok := slices.BinarySearch(p.Members, s.cfg.Self); ok && newer {
		s.adopt(m.ID, p)
	}
}

// adopt makes a permutation hold. Members of it who are not known are looked past.
func (s *State) adopt(by proto.PeerID, p *proto.Permutation) {
	s.drawn = drawn{version: p.Version, by: by, members: p.Members, since: p.Since}
	since := make([]int, len(p.Since))
	for i, g := range p.Since {
		since[i] = int(g)
	}
	s.step(permutation.Permuted{Topology: permutation.NewTopology(p.Seed, p.Members), Since: since})
	if by != s.cfg.Self {
		s.membersChanged()
	}
}
