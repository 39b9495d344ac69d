package mob

import (
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/roster"
	"github.com/mobgrid/mob/proto"
)

// applyChanges does what follows from a change of the roster.
func (s *State) applyChanges() {
	for _, c := range s.roster.Changes() {
		p := s.joined[c.ID]
		switch c.Kind {
		case roster.Ranked:
			s.setRank(p, c.Matched, c.Position)
		case roster.Unmatched:
			p.matched = false
		case roster.Rematched:
			if to := s.levels[c.Group.Index].links[c.Sibling]; to != nil {
				s.updateInterest(to)
			}
		case roster.Forgotten:
			delete(s.levels[c.Group.Index].links, c.Sibling)
		case roster.Dial:
			s.do(Dial{Peer: c.ID, Dead: c.Dead})
		case roster.Ping:
			s.sendPing(p)
		}
	}
}

// setRank records whether the node requests of a peer, and its position in the order at the link. A parent in a
// plan always matches.
func (s *State) setRank(p *peer, matched bool, position int) {
	s.wake(p)
	was := p.matched
	p.matched, p.position = matched, position
	if p.pipe.Deep {
		p.matched, p.position = true, 0
	}
	if !p.matched || was || !p.near() {
		return
	}
	for i := range s.stored.Have.All() { // the peer was not sent all while it did not match
		if s.stored.Offers(i) && p.box.Subscribed.Has(i) {
			s.announceTo(p, i, avail.Have, true)
		}
	}
}

// onJoined starts a session with a peer.
func (s *State) onJoined(nd Node) {
	if s.joined[nd.ID] != nil || nd.ID == s.cfg.Self {
		return
	}
	if !s.roster.Admits(nd.Cluster) {
		s.applyChanges()
		s.do(Drop{Peer: nd.ID, Code: proto.CodeBusy, Why: "too many clusters"})
		s.roster.Unreachable(nd.ID)
		s.applyChanges()
		return
	}
	n, clusters := s.roster.Met(nd)
	s.applyChanges()
	p := s.newPeer(nd, n)
	if p.HasStalled() {
		p.Restall()
		p.pipe.Probing = true
	}
	s.ration(p)
	s.add(p)
	if n.Record.Banned {
		s.drop(p, proto.CodeBanned, "banned before")
		return
	}
	s.roster.Joined(n, nd.Host)
	s.joinPlan(p)
	s.roster.Rerank(clusters...)
	s.applyChanges()
	s.sendWant(p)
	s.sendPing(p)
	s.introduce(p, introduced)
	s.roster.DialCandidates()
	s.applyChanges()
}

// onLeft ends a session. The requests to the peer go to other peers.
func (s *State) onLeft(id proto.PeerID, banned bool) {
	p := s.joined[id]
	if p == nil {
		return
	}
	s.remove(p)
	s.batches.Remove(&p.box)
	s.leavePlan(p)
	s.releaseAll(p)
	s.recount(p, func() { p.Stalled = true }) // its pieces and claims do not count any more
	for i := range p.Have.All() {
		s.removeHave(p, i)
	}
	for i := range p.Claim.All() {
		s.removeClaim(p, i)
	}
	if p.link != nil && len(p.link.peers) == 0 {
		p.link.Pieces.Clear()
	}
	p.ForgetReports()
	if s.stealing == id {
		s.stealing = ""
	}
	s.roster.Left(p.node, banned)
	s.applyChanges()
}

// drop ends a session from this side.
func (s *State) drop(p *peer, code proto.Code, why string) {
	s.do(Drop{Peer: p.ID, Code: code, Why: why})
	s.onLeft(p.ID, code == proto.CodeBanned)
}

// The most members that a peer is sent at a time: when it joins, and by gossip.
const (
	introduced = 8
	gossiped   = 256
)

// introduce sends members to a peer, even if there are none.
func (s *State) introduce(p *peer, most int) {
	s.do(Introduce{Peer: p.ID, Members: s.roster.Introduction(p.Node, most)})
}
