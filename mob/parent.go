package mob

import (
	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/proto"
)

// maxHeldUp bounds the pieces that are checked for one parent.
const maxHeldUp = 64

// holdsUp reports whether a parent is missing a piece that it is to send, and that another peer has.
func (s *table) holdsUp(m *assign.Member) bool {
	p := s.joined[m.ID]
	if p.pipe.Busy() {
		return false
	}
	checked := 0
	for i := range s.wanted.All() {
		if !s.work.From(m, i) || p.Have.Has(i) {
			continue
		}
		for _, q := range s.peers {
			if q != p && q.Have.Has(i) {
				return true
			}
		}
		if checked++; checked >= maxHeldUp {
			return false
		}
	}
	return false
}

// onNamed records the name of a joined peer's host.
func (s *State) onNamed(id proto.PeerID, host string) {
	p := s.joined[id]
	if p == nil || p.Host == host {
		return
	}
	was := p.pipe.Deep
	s.leavePlan(p)
	p.Host, p.node.Host = host, host
	s.joinPlan(p)
	if was && !p.pipe.Deep { // it matches by rank again
		s.roster.Rerank(p.Cluster)
		s.applyChanges()
	}
}

// joinPlan records a peer by the name of its host, and introduces its neighbors in the plan to it.
func (s *State) joinPlan(p *peer) {
	p.member = s.work.Join(p.Host, p.ID, p.shared, &p.Peer, s.now)
	s.adopt(p)
	var met []Node
	for _, id := range s.work.Neighbors(p.member) {
		if q := s.joined[id]; q != nil && len(met) < gossiped {
			met = append(met, q.Node)
		}
	}
	if len(met) > 0 {
		s.do(Introduce{Peer: p.ID, Members: met})
	}
}

// adopt has the node request of a peer if it is a parent, whatever its rank.
func (s *State) adopt(p *peer) {
	if s.work.IsParent(p.member) {
		p.pipe.Deep, p.matched, p.position = true, true, 0
		s.interestChanged(p)
		s.reconsiderAll()
	}
}

func (s *State) leavePlan(p *peer) {
	p.pipe.Deep = false
	if next := s.work.Leave(p.member); next != nil {
		s.adopt(s.joined[next.ID])
	}
	p.member = nil
}
