package permutation

import (
	"slices"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// received takes in a message of a peer. Messages of other strategies are ignored; an
// invalid one ends the conversation.
func (s *State) received(id proto.PeerID, msg proto.Message) {
	m := s.members[id]
	if m == nil || !m.joined {
		return
	}
	switch msg := msg.(type) {
	case *proto.Permutation:
		s.permuted(m, msg)
	case *proto.Decoded:
		s.announced(m, msg)
	case *proto.Holds:
		s.holds(m, msg)
	case *proto.Taken:
		s.confirmed(m)
	case *proto.Ping:
		s.send(id, &proto.Pong{Nonce: msg.Nonce})
	}
}

// announced takes in of which generations a peer needs no more blocks, and of which it
// needs some after all.
func (s *State) announced(m *member, msg *proto.Decoded) {
	for _, r := range slices.Concat(msg.Generations, msg.Lost) {
		if int(r.First)+int(r.Count) > len(s.generations) {
			s.drop(m.ID, "generations from %d to %d of %d", r.First, int(r.First)+int(r.Count), len(s.generations))
			return
		}
	}
	full := m.complete.Full()
	for g := range bitset.Numbers(msg.Generations, len(s.generations)) {
		if m.complete.Add(g) {
			m.plain[g] = nil
			s.recount(m, g, -1)
		}
	}
	for g := range bitset.Numbers(msg.Lost, len(s.generations)) {
		if m.complete.Remove(g) {
			s.recount(m, g, 1)
		}
	}
	if m.complete.Full() != full {
		s.membersChanged() // it may be the one to draw now, or not any more
	}
}

// holds takes in which plain blocks of a generation a peer has.
func (s *State) holds(m *member, msg *proto.Holds) {
	g := int(msg.Generation)
	if g >= len(s.generations) || len(msg.Blocks) != (s.cfg.Blocks[g]+7)/8 {
		s.drop(m.ID, "map of %d bytes of generation %d", len(msg.Blocks), g)
		return
	}
	has := bitset.New(s.cfg.Blocks[g])
	for j := range s.cfg.Blocks[g] {
		if msg.Blocks[j/8]>>(j%8)&1 != 0 {
			has.Add(j)
		}
	}
	m.plain[g] = has
}
