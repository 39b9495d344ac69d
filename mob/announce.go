package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/avail"
)

// announce announces a piece to each peer that is subscribed to it and needs to know, with the next
// batch or immediately.
func (s *State) announce(i int, u avail.Update) {
	// Where machines are busy haves wait: the claims were announced already, and one message for several pieces costs
	// members less.
	calm := !s.layout.Batched && s.batches.Delay() == s.t.Batch
	for _, p := range s.peers {
		if !p.box.Subscribed.Has(i) {
			continue
		}
		var n notice
		switch f := s.fetches[i]; {
		case u == avail.Claim:
			n = p.claimNotice(f)
		case u == avail.Drop:
			n = notice{needed: true, urgent: p.near() || p.fetchesHere()}
		case s.work.Owes(p.member, i):
			n = notice{needed: true, urgent: true, immediate: true}
		default:
			n = p.haveNotice(i, calm, s.layout.Batched)
		}
		if !n.needed {
			continue
		}
		s.announceTo(p, i, u, n.urgent)
		if n.immediate {
			s.flushPeer(p)
		}
	}
}

// notice is the way in which a peer is sent an update.
type notice struct{ needed, urgent, immediate bool }

// claimNotice returns how a peer is sent the claim on a fetch: if it is of the group that the piece enters, or of a
// sibling. Members of the group get it immediately, since they might start the piece.
func (p *peer) claimNotice(f *fetch) notice {
	return notice{
		needed:    f.concerns(p),
		urgent:    p.near() || p.fetchesHere(),
		immediate: p.near() && f.enters(p.home),
	}
}

// haveNotice returns how a peer is sent that a piece is stored: if it exchanges pieces with the node, or if the
// piece is new to its group. In a large site other racks need few haves. It is urgent if the piece is new to a group
// that both are in, or if the peer fetches from the node over a link.
func (p *peer) haveNotice(i int, calm, batched bool) notice {
	first := p.near() && p.home.Holders[i] == 0
	n := notice{
		needed: p.matched || !p.near() || p.level.Holders[i] == 0,
		urgent: first || p.fetchesHere(),
	}
	switch {
	case !n.needed:
	case first:
		n.immediate = calm
	case !p.local && !batched && p.fetchesHere():
		n.immediate = p.box.Early()
	}
	return n
}

// announceLoss announces to every peer, subscribed or not, that the node does not have a piece any
// more.
func (s *State) announceLoss(i int) {
	for _, p := range s.peers {
		s.announceTo(p, i, avail.Drop, p.near())
	}
}

// claimLocally claims a piece, to the own cluster, that a single member has.
func (s *State) claimLocally(f *fetch) {
	if f.claimed {
		return
	}
	f.claimed = true
	for _, p := range s.peers {
		if p.local && p.box.Subscribed.Has(f.Piece) && !p.Have.Has(f.Piece) {
			s.announceTo(p, f.Piece, avail.Claim, true)
			s.flushPeer(p)
		}
	}
}

// relay announces a claim or a drop of a peer of the site to peers of other sites. A claim counts for
// the site, and they may not have a session with the member that made it.
func (s *State) relay(i int, u avail.Update) {
	for _, p := range s.peers {
		if !p.near() && p.box.Subscribed.Has(i) {
			s.announceTo(p, i, u, false)
		}
	}
}

// announceTo adds an update to the next batch for a peer.
func (s *State) announceTo(p *peer, i int, u avail.Update, urgent bool) {
	for _, m := range s.batches.Add(&p.box, i, u, urgent, s.now, len(s.peers)) {
		s.send(p, m)
	}
}

// flushPeer sends the pending announcements of a peer.
func (s *State) flushPeer(p *peer) {
	if m := p.box.Take(s.now); m != nil {
		s.send(p, m)
	}
}

// paceBlocks is the number of least blocks that arrive over the WAN between two messages to a peer of
// another site that can wait. A message, its answer and their headers take about 250 bytes.
const paceBlocks = 8

// pace returns the least time between two pings, and two batches, to a peer of another site. On fast
// links Queue and Batch are longer.
func (s *table) pace() time.Duration {
	rate := 0.0
	for _, p := range s.peers {
		if !p.near() {
			rate += p.pipe.Rate()
		}
	}
	if rate == 0 {
		return 0
	}
	return min(time.Duration(float64(paceBlocks*s.t.MinBlock)/rate*float64(time.Second)), s.t.Stall/3)
}

// dropClaim withdraws the claim on a piece in progress.
func (s *State) dropClaim(f *fetch) {
	f.claimed = false
	s.announce(f.Piece, avail.Drop)
}
