package gossip

import (
	"slices"

	"github.com/mobgrid/mob/mob/permutation"
	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

// received takes in what a peer says. What has no meaning here is ignored; what cannot
// be ends the conversation.
func (s *State) received(id proto.PeerID, msg proto.Message) {
	m := s.members[id]
	if m == nil || !m.joined {
		return
	}
	switch msg := msg.(type) {
	case *proto.Permutation:
		s.permuted(m, msg)
	case *proto.Decoded:
		s.heard(m, msg)
	case *proto.Holds:
		s.mapped(m, msg)
	case *proto.Taken:
		s.step(permutation.Confirmed{Peer: id})
	case *proto.Ping:
		s.send(id, &proto.Pong{Nonce: msg.Nonce})
	}
}

// heard takes in of which generations a peer needs no more, and which it lacks after
// all.
func (s *State) heard(m *member, msg *proto.Decoded) {
	for _, r := range slices.Concat(msg.Generations, msg.Lost) {
		if int(r.First)+int(r.Count) > len(s.cfg.Blocks) {
			s.drop(m.ID, "generations from %d to %d of %d", r.First, int(r.First)+int(r.Count), len(s.cfg.Blocks))
			return
		}
	}
	pieceset.Each(msg.Generations, len(s.cfg.Blocks), func(g int) {
		if m.decoded.Add(g) {
			s.step(permutation.Heard{Peer: m.ID, Batch: g})
		}
	})
	pieceset.Each(msg.Lost, len(s.cfg.Blocks), func(g int) {
		if m.decoded.Remove(g) {
			s.step(permutation.Lacks{Peer: m.ID, Batch: g})
		}
	})
	if m.decoded.Full() {
		s.membersChanged() // it may be the one to draw now
	}
}

// one is the range of a single generation.
func one(g int) []proto.Range { return []proto.Range{{First: uint32(g), Count: 1}} }

// mapped takes in which plain blocks of a generation a peer has.
func (s *State) mapped(m *member, msg *proto.Holds) {
	g := int(msg.Generation)
	if g >= len(s.cfg.Blocks) || len(msg.Blocks) != (s.cfg.Blocks[g]+7)/8 {
		s.drop(m.ID, "a map of %d bytes of generation %d", len(msg.Blocks), g)
		return
	}
	has := pieceset.New(s.cfg.Blocks[g])
	for j := range s.cfg.Blocks[g] {
		if msg.Blocks[j/8]>>(j%8)&1 != 0 {
			has.Add(j)
		}
	}
	s.step(permutation.Mapped{Peer: m.ID, Batch: g, Has: has})
}

// bits is a set as it is sent.
func bits(set *pieceset.Set) []byte {
	b := make([]byte, (set.Cap()+7)/8)
	set.Each(func(j int) { b[j/8] |= 1 << (j % 8) })
	return slices.Clip(b)
}
