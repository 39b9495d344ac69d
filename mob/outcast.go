package mob

import (
	"slices"

	"github.com/mobgrid/mob/mob/outcast"
	"github.com/mobgrid/mob/proto"
)

// outcastReach is to the global peers of how many members, in the order of their ranks,
// one of a mob with an outcast is joined: so many tell each node of it.
const outcastReach = 3

// castOut tells other clusters of a member that the node has shown out.
func (s *State) castOut(id proto.PeerID) {
	if slices.Contains(s.outcasts, id) {
		return
	}
	s.outcasts = append(s.outcasts, id)
	for _, p := range s.peers {
		s.tellOutcasts(p, id)
	}
}

func (s *State) tellOutcasts(p *peer, ids ...proto.PeerID) {
	for _, id := range ids {
		if !p.local {
			s.send(p, &proto.Outcast{Peer: id})
		}
	}
}

// reach is to the global peers of how many members the node is joined.
func (s *State) reach() int {
	if len(s.outcasts) == 0 {
		return 1
	}
	return min(outcastReach, s.size)
}

// ration has the outcasts of other clusters served slowly.
func (s *State) ration() {
	for _, cluster := range s.others {
		l := s.links[cluster]
		if l == nil || l.words.None() {
			continue
		}
		ms := make([]outcast.Member, len(l.peers))
		for i, p := range l.peers {
			ms[i] = outcast.Member{ID: p.ID, Waits: p.wants.Len() > 0}
		}
		for _, r := range l.words.Rations(ms) {
			s.do(Ration(r))
		}
	}
}
