package mob

import (
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/roster"
	"github.com/mobgrid/mob/mob/session"
	"github.com/mobgrid/mob/proto"
)

// applyChanges does what follows from a change of the roster.
func (s *State) applyChanges() {
	for _, c := range s.roster.Changes() {
		p := s.Joined[c.ID]
		switch c.Kind {
		case roster.Ranked:
			s.setRank(p, c.Matched, c.Position)
		case roster.Unmatched:
			p.Matched = false
		case roster.Rematched:
			if to := s.Levels[c.Group.Index].Links[c.Sibling]; to != nil {
				s.updateInterest(to)
			}
		case roster.Forgotten:
			delete(s.Levels[c.Group.Index].Links, c.Sibling)
		case roster.Dial:
			s.do(Dial{Peer: c.ID, Dead: c.Dead})
		case roster.Ping:
			s.sendPing(p)
		}
	}
}

// setRank records whether the node requests of a peer, and its position in the order at the link. A parent in a
// plan always matches.
func (s *State) setRank(p *session.Peer, matched bool, position int) {
	s.Refill(p)
	was := p.Matched
	p.Matched, p.Position = matched, position
	if p.Pipe.Deep {
		p.Matched, p.Position = true, 0
	}
	if !p.Matched || was || !p.Near() {
		return
	}
	for i := range s.Stored.Have.All() { // the peer was not sent all while it did not match
		if s.Stored.Offers(i) && p.Box.Subscribed.Has(i) {
			s.announceTo(p, i, avail.Have, true)
		}
	}
}

// onJoined starts a session with a peer.
func (s *State) onJoined(nd Node) {
	if s.Joined[nd.ID] != nil || nd.ID == s.cfg.Self {
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
	p := s.NewPeer(nd, n)
	if p.HasStalled() {
		p.Restall()
		p.Pipe.Probing = true
	}
	s.ration(p)
	s.Add(p)
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
	p := s.Joined[id]
	if p == nil {
		return
	}
	s.Remove(p)
	s.batches.Remove(&p.Box)
	s.leavePlan(p)
	s.releaseAll(p)
	s.recount(p, func() { p.Stalled = true }) // its pieces and claims do not count any more
	for i := range p.Have.All() {
		s.removeHave(p, i)
	}
	for i := range p.Claim.All() {
		s.removeClaim(p, i)
	}
	if p.Link != nil && len(p.Link.Peers) == 0 {
		p.Link.Pieces.Clear()
	}
	p.ForgetReports()
	if s.stealing == id {
		s.stealing = ""
	}
	s.roster.Left(p.Node, banned)
	s.applyChanges()
}

// drop ends a session from this side.
func (s *State) drop(p *session.Peer, code proto.Code, why string) {
	s.do(Drop{Peer: p.ID, Code: code, Why: why})
	s.onLeft(p.ID, code == proto.CodeBanned)
}

// The most members that a peer is sent at a time: when it joins, and by gossip.
const (
	introduced = 8
	gossiped   = 256
)

// introduce sends members to a peer, even if there are none.
func (s *State) introduce(p *session.Peer, most int) {
	s.do(Introduce{Peer: p.ID, Members: s.roster.Introduction(p.Member, most)})
}
