package mob

import (
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/session"
)

// announce announces a piece to each peer that is subscribed to it and needs to know, with the next
// batch or immediately.
func (s *State) announce(i int, u avail.Update) {
	// Where machines are busy haves wait: the claims were announced already, and one message for several pieces costs
	// members less.
	calm := !s.Layout.Batched && s.batches.Delay() == s.Tuning.Batch
	for _, p := range s.Peers {
		if !p.Box.Subscribed.Has(i) {
			continue
		}
		var n session.Notice
		switch f := s.Fetches[i]; {
		case u == avail.Claim:
			n = p.ClaimNotice(f)
		case u == avail.Drop:
			n = session.Notice{Needed: true, Urgent: p.Near() || p.FetchesHere()}
		case s.Work.Owes(p.Planned, i):
			n = session.Notice{Needed: true, Urgent: true, Immediate: true}
		default:
			n = p.HaveNotice(i, calm, s.Layout.Batched)
		}
		if !n.Needed {
			continue
		}
		s.announceTo(p, i, u, n.Urgent)
		if n.Immediate {
			s.flushPeer(p)
		}
	}
}

// announceLoss announces to every peer, subscribed or not, that the node does not have a piece any
// more.
func (s *State) announceLoss(i int) {
	for _, p := range s.Peers {
		s.announceTo(p, i, avail.Drop, p.Near())
	}
}

// claimLocally claims a piece, to the own cluster, that a single member has.
func (s *State) claimLocally(f *session.Fetch) {
	if f.Claimed {
		return
	}
	f.Claimed = true
	for _, p := range s.Peers {
		if p.Local && p.Box.Subscribed.Has(f.Piece) && !p.Have.Has(f.Piece) {
			s.announceTo(p, f.Piece, avail.Claim, true)
			s.flushPeer(p)
		}
	}
}

// relay announces a claim or a drop of a peer of the site to peers of other sites. A claim counts for
// the site, and they may not have a session with the member that made it.
func (s *State) relay(i int, u avail.Update) {
	for _, p := range s.Peers {
		if !p.Near() && p.Box.Subscribed.Has(i) {
			s.announceTo(p, i, u, false)
		}
	}
}

// announceTo adds an update to the next batch for a peer.
func (s *State) announceTo(p *session.Peer, i int, u avail.Update, urgent bool) {
	for _, m := range s.batches.Add(&p.Box, i, u, urgent, s.Now) {
		s.send(p, m)
	}
}

// flushPeer sends the pending announcements of a peer.
func (s *State) flushPeer(p *session.Peer) {
	if m := p.Box.Take(s.Now); m != nil {
		s.send(p, m)
	}
}

// dropClaim withdraws the claim on a piece in progress.
func (s *State) dropClaim(f *session.Fetch) {
	f.Claimed = false
	s.announce(f.Piece, avail.Drop)
}
