package mob

import (
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// interest is a set of pieces that a peer is to announce.
type interest uint8

const (
	notSent interest = iota
	noInterest
	shareInterest
	allInterest
)

// interestIn returns the node's interest in a peer: all pieces if it may request any, or if the peer
// is of its site; its share if it may come to that, to know whether there is work; and else none.
func (s *table) interestIn(p *peer) interest {
	switch {
	case s.complete || !p.near() && !p.matched:
		return noInterest
	case p.near() || p.isActive():
		return allInterest
	}
	return shareInterest
}

// sendWant subscribes to the pieces of interest.
func (s *State) sendWant(p *peer) {
	p.interest = s.interestIn(p)
	var rs []proto.Range
	switch p.interest {
	case allInterest:
		rs = []proto.Range{{Count: uint32(s.layout.Count)}}
	case shareInterest:
		rs = s.site().Share.Ranges()
	}
	p.Owe(rs, s.layout.Count)
	s.send(p, &proto.Want{Pieces: rs})
}

// updateInterest updates the subscriptions at the peers of a link.
func (s *State) updateInterest(l *link) {
	for _, p := range l.peers {
		s.interestChanged(p)
	}
}

// interestChanged updates the subscription at a peer, if the node's interest has changed.
func (s *State) interestChanged(p *peer) {
	if p.interest != notSent && p.interest != s.interestIn(p) {
		s.sendWant(p)
		s.wake(p)
	}
}

// onWant records the subscription of a peer, and announces the pieces that are new in it.
func (s *State) onWant(p *peer, m *proto.Want) {
	s.checkSoon()
	old := p.box.Subscribed
	p.box.Subscribed = bitset.New(s.layout.Count)
	for i := range bitset.Numbers(m.Pieces, s.layout.Count) {
		p.box.Subscribed.Add(i)
		if old.Has(i) {
			continue
		}
		if s.stored.Offers(i) {
			s.announceTo(p, i, avail.Have, true)
		} else if s.fetches[i].concerns(p) || !p.near() && !s.site().Free(i) {
			s.announceTo(p, i, avail.Claim, true)
		}
	}
	s.send(p, p.box.Answer(s.now))
}

// fetchesHere reports whether a remote peer fetches from the node: it is subscribed to all pieces. All
// peers of the site are.
func (p *peer) fetchesHere() bool {
	return p.acrossLink() && p.box.Subscribed.Len() > 0 && p.box.Subscribed.Full()
}

// measures reports whether round trips to a peer are measured continuously: blocks go to it over a
// link, or it is a parent in a plan, whose requests wait behind blocks.
func (p *peer) measures() bool { return p.fetchesHere() || p.pipe.Deep && p.acrossLink() }
