package mob

import (
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/mob/session"
	"github.com/mobgrid/mob/proto"
)

// sendWant subscribes to the pieces of interest.
func (s *State) sendWant(p *session.Peer) {
	p.Interest = s.InterestIn(p)
	var rs []proto.Range
	switch p.Interest {
	case session.AllInterest:
		rs = []proto.Range{{Count: uint32(s.Layout.Count)}}
	case session.ShareInterest:
		rs = s.Site().Share.Ranges()
	}
	p.Owe(rs, s.Layout.Count)
	s.send(p, &proto.Want{Pieces: rs})
}

// updateInterest updates the subscriptions at the peers of a link.
func (s *State) updateInterest(l *session.Link) {
	for _, p := range l.Peers {
		s.interestChanged(p)
	}
}

// interestChanged updates the subscription at a peer, if the node's interest has changed.
func (s *State) interestChanged(p *session.Peer) {
	if p.Interest != session.NotSent && p.Interest != s.InterestIn(p) {
		s.sendWant(p)
		s.Refill(p)
	}
}

// onWant records the subscription of a peer, and announces the pieces that are new in it.
func (s *State) onWant(p *session.Peer, m *proto.Want) {
	s.CheckSoon()
	old := p.Box.Subscribed
	p.Box.Subscribed = bitset.New(s.Layout.Count)
	for i := range bitset.Numbers(m.Pieces, s.Layout.Count) {
		p.Box.Subscribed.Add(i)
		if old.Has(i) {
			continue
		}
		if s.Stored.Offers(i) {
			s.announceTo(p, i, avail.Have, true)
		} else if s.Fetches[i].Concerns(p) || !p.Near() && !s.Site().Free(i) {
			s.announceTo(p, i, avail.Claim, true)
		}
	}
	s.send(p, p.Box.Answer(s.Now))
}
