package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/avail"
)

// announce announces a piece to each peer that is subscribed to it and needs to know, with the next
// batch or immediately.
func (s *State) announce(i int, u avail.Update) {
	for _, p := range s.peers {
		if !p.box.Subscribed.Has(i) || !s.concerns(p, i, u) {
			continue
		}
		s.announceTo(p, i, u, s.isUrgent(p, i, u))
		if s.skipsBatch(p, i, u) {
			s.flushPeer(p)
		}
	}
}

// concerns reports whether a peer needs to know an update: a claim if it is of the group that the
// piece enters, or of a sibling; a have if it exchanges pieces with the node, or if the piece is new
// to its group. In a large site other racks need few haves.
func (s *State) concerns(p *peer, i int, u avail.Update) bool {
	switch u {
	case avail.Claim:
		return s.fetches[i].concerns(p)
	case avail.Have:
		return p.matched || !p.near() || p.level.Holders[i] == 0 || s.work.Owes(p.member, i)
	}
	return true
}

// skipsBatch reports whether an update is sent immediately. Members of a group get claims on pieces
// that enter it, since they might start the piece, and haves that are new to the group. Where machines
// are busy these haves wait: the claims were announced already, and one message for several pieces
// costs members less.
func (s *State) skipsBatch(p *peer, i int, u avail.Update) bool {
	switch {
	case u == avail.Have && s.work.Owes(p.member, i):
		return true
	case p.near() && u == avail.Claim:
		return s.fetches[i].enters(p.home)
	case p.near() && u == avail.Have && p.home.Holders[i] == 0:
		return !s.layout.Batched && s.batches.Delay() == s.t.Batch
	case p.local:
		return false
	case u != avail.Have || s.layout.Batched || !p.fetchesHere():
		return false
	}
	return p.box.Early()
}

// isUrgent reports whether a peer may act on an update: in the site on a claim, and on a piece that
// is new to a group that both are in; over a link if it fetches from the node.
func (s *State) isUrgent(p *peer, i int, u avail.Update) bool {
	switch home := p.home; {
	case u == avail.Have && s.work.Owes(p.member, i):
		return true
	case home == nil:
		return p.fetchesHere()
	case u == avail.Have:
		return home.Holders[i] == 0 || p.fetchesHere()
	}
	return true
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

// setPace computes the least time between two pings, and two batches, to a peer of another site. On fast
// links Queue and Batch are longer.
func (s *State) setPace() {
	rate := 0.0
	for _, p := range s.peers {
		if !p.near() {
			rate += p.pipe.Rate()
		}
	}
	s.batches.Pace = 0
	if rate > 0 {
		s.batches.Pace = min(time.Duration(float64(paceBlocks*s.t.MinBlock)/rate*float64(time.Second)), s.t.Stall/3)
	}
}

// dropClaim withdraws the claim on a piece in progress.
func (s *State) dropClaim(f *fetch) {
	f.claimed = false
	s.announce(f.Piece, avail.Drop)
}
