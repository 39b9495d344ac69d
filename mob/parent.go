package mob

import (
	"github.com/mobgrid/mob/mob/session"
	"github.com/mobgrid/mob/proto"
)

// onNamed records the name of a joined peer's host.
func (s *State) onNamed(id proto.PeerID, host string) {
	p := s.Joined[id]
	if p == nil || p.Host == host {
		return
	}
	was := p.Pipe.Deep
	s.leavePlan(p)
	p.Host, p.Node.Host = host, host
	s.joinPlan(p)
	if was && !p.Pipe.Deep { // it matches by rank again
		s.roster.Rerank(p.Cluster)
		s.applyChanges()
	}
}

// joinPlan records a peer by the name of its host, and introduces its neighbors in the plan to it.
func (s *State) joinPlan(p *session.Peer) {
	p.Planned = s.Work.Join(p.Host, p.ID, p.Shared, &p.Peer, s.Now)
	s.adopt(p)
	var met []Node
	for _, id := range s.Work.Neighbors(p.Planned) {
		if q := s.Joined[id]; q != nil && len(met) < gossiped {
			met = append(met, q.Member)
		}
	}
	if len(met) > 0 {
		s.do(Introduce{Peer: p.ID, Members: met})
	}
}

// adopt has the node request of a peer if it is a parent, whatever its rank.
func (s *State) adopt(p *session.Peer) {
	if s.Work.IsParent(p.Planned) {
		p.Pipe.Deep, p.Matched, p.Position = true, true, 0
		s.interestChanged(p)
		s.ReconsiderAll()
	}
}

func (s *State) leavePlan(p *session.Peer) {
	p.Pipe.Deep = false
	if next := s.Work.Leave(p.Planned); next != nil {
		s.adopt(s.Joined[next.ID])
	}
	p.Planned = nil
}
