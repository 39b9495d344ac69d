package mob

import (
	"github.com/mobgrid/mob/mob/outcast"
	"github.com/mobgrid/mob/proto"
)

// outcastReach is how many members' global peers a node joins once it has shown somebody
// out: its own and those of the next ranks; so each of these hears it from as many.
const outcastReach = 3

// castOut tells other clusters of a member that the node has shown out.
func (s *State) castOut(id proto.PeerID) {
	told := len(s.outcasts)
	s.outcasts = outcast.Note(s.outcasts, id)
	for _, p := range s.peers {
		s.tellOutcasts(p, s.outcasts[told:]...)
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
	return min(1+outcastReach*len(s.outcasts), outcastReach, s.size)
}

// ration has the outcasts of a cluster served slowly. Guests have none.
func (s *State) ration(l *link) {
	if l == nil || l.words.None() {
		return
	}
	ms := make([]outcast.Member, len(l.peers))
	for i, p := range l.peers {
		ms[i] = outcast.Member{ID: p.ID, Host: p.Host, Waits: p.wants.Len() > 0}
	}
	for _, r := range l.words.Rations(ms) {
		s.do(Ration(r))
	}
}
