package mob

import (
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// interest is what a node wants a peer to announce.
type interest uint8

const (
	notSent interest = iota
	noInterest
	shareInterest
	allInterest
)

// interestIn returns what the node wants a peer to announce: all pieces if it may request any of
// it, or if the peer is of its site; its share if it may come to that, to know whether there is
// work; and else none.
func (s *State) interestIn(p *peer) interest {
	switch {
	case s.complete || !p.near() && !p.matched:
		return noInterest
	case p.near() || p.isActive():
		return allInterest
	}
	return shareInterest
}

// sendWant subscribes to what the node wants a peer to announce.
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

// updateInterest subscribes anew at the peers of a link, if the node's interest has changed.
func (s *State) updateInterest(l *link) {
	for _, p := range l.peers {
		s.interestChanged(p)
	}
}

// interestChanged subscribes anew at a peer, if the node's interest has changed.
func (s *State) interestChanged(p *peer) {
	if p.interest != notSent && p.interest != s.interestIn(p) {
		s.sendWant(p)
		s.wake(p)
	}
}

// sendShare subscribes to the new share. Members come and go many at a time, and nothing waits
// for it.
func (s *State) sendShare() {
	if !s.roster.TakeShareChanged() {
		return
	}
	for _, p := range s.peers {
		if p.interest == shareInterest {
			s.sendWant(p)
		}
	}
}

// onWant takes in what a peer subscribes to, and announces what is new to it.
func (s *State) onWant(p *peer, m *proto.Want) {
	s.hasten()
	old := p.box.Subscribed
	p.box.Subscribed = bitset.New(s.layout.Count)
	for i := range bitset.Numbers(m.Pieces, s.layout.Count) {
		p.box.Subscribed.Add(i)
		if old.Has(i) {
			continue
		}
		if s.stored.Offers(i) {
			s.announceTo(p, i, avail.Have, true)
		} else if s.fetches[i].concerns(p) || !p.near() && !s.free(s.site(), i) {
			s.announceTo(p, i, avail.Claim, true)
		}
	}
	s.send(p, p.box.Answer(s.now))
}

// fetchesHere reports whether a remote peer fetches from the node, as one may that is subscribed to
// all pieces. Those of the own site all are.
func (p *peer) fetchesHere() bool {
	return p.acrossLink() && p.box.Subscribed.Len() > 0 && p.box.Subscribed.Full()
}

// measures reports whether round trips to a peer are measured all the time: blocks go to it over a link,
// or a parent in a plan sends some, whose requests wait for what others send the other way.
func (p *peer) measures() bool { return p.fetchesHere() || p.pipe.Deep && p.acrossLink() }
