package mob

import (
	"slices"

	"github.com/mobgrid/mob/mob/session"
	"github.com/mobgrid/mob/proto"
)

// fill requests of every ready peer as much as its pipeline takes.
func (s *State) fill() {
	if s.Complete {
		return
	}
	if s.Work.Update(s.Now) {
		s.ReconsiderAll()
	}
	for _, p := range s.FindReady(s.roster.MayFetch) {
		p.Ready = false
		if (p.Matched || p.HasStarted()) && (p.Local || p.Level.Open) {
			s.fillPeer(p)
		}
	}
	s.Ready = s.Ready[:0]
}

// fillPeer requests of a peer as much as its pipeline takes. A local peer that fetches too is sent requests of several short
// pieces at a time, a block in total: most of the cost of a request is the message. A complete peer is not, since
// it may be the only one that has these pieces, nor one at whose rate the block would take long.
func (s *State) fillPeer(p *session.Peer) {
	if p.Paused(s.Now, s.Tuning.Queue) {
		return
	}
	block := p.Pipe.Block()
	left := 0 // bytes of a block that is made up of short pieces of a local peer
	for (p.Pipe.Room() || left > 0) && !(p.Stalled && p.Pipe.Busy()) {
		f := s.next(p)
		if f == nil {
			return
		}
		if f.Peer == nil {
			continue // it was claimed ahead
		}
		sp := f.Next(block)
		s.request(p, f, sp)
		if left <= 0 && p.Local && !p.Have.Full() && float64(block) < p.Pipe.Rate()*(s.Tuning.Stall/2).Seconds() {
			left = block
		}
		left -= int(sp.Length)
	}
}

// request requests a span of a fetch.
func (s *State) request(p *session.Peer, f *session.Fetch, sp proto.Span) {
	if !p.Pipe.Busy() {
		p.Requested(s.Now)
	}
	p.Pipe.Request(s.Now, sp)
	s.do(Send{Peer: p.ID, Message: &proto.Request{Span: sp}, Made: s.picker.Makes(p, f.Piece)})
}

// next returns the fetch to request of p next: the one that it is at, one that has no peer, or a
// new one. It returns nil if there is none.
func (s *State) next(p *session.Peer) *session.Fetch {
	if f := p.Current; f != nil && f.Peer == p && !f.Requested() {
		return f
	}
	if !p.MayStart(p.Pipe.Busy()) {
		return nil
	}
	if f := s.TakeClaimed(p); f != nil {
		s.assign(p, f)
		return f
	}
	for k, f := range s.Unassigned {
		if !s.MaySend(p, f) ||
			!p.Local && !f.Enters(p.Level) && !(p.IsActive() && s.MayTake(p.Level, f.Piece) && !p.IsDeferred(f.Piece)) {
			continue
		}
		s.Unassigned = slices.Delete(s.Unassigned, k, k+1)
		s.assign(p, f)
		return f
	}
	if p.Idle || !p.IsActive() || !p.Local && !p.Pipe.Deep && (p.Level.Behind && s.Stored.Passed.Len() == 0 || s.TooLate(p) || !s.MayClaimAhead(p)) {
		return nil
	}
	i := s.pick(p)
	if i < 0 {
		p.Idle = true
		return nil
	}
	f := s.Start(i, s.book.Suspect(i))
	s.assign(p, f)
	return f
}

// pick returns a piece to begin with p, -1 if there is none.
func (s *State) pick(p *session.Peer) int {
	if s.Layout.Count == 0 {
		return -1
	}
	return s.picker.Pick(p)
}

// onArrived records a block.
func (s *State) onArrived(id proto.PeerID, sp proto.Span) {
	p := s.Joined[id]
	if p == nil {
		return
	}
	s.roster.Seen()
	s.applyChanges()
	if p.Delivered(s.Now) {
		p.Pipe.Probing = false
		s.recount(p, func() { p.Stalled = false })
	}
	f := s.Fetches[int(sp.Piece)]
	if p.Pipe.Arrived(s.Now, sp, p.ActiveOver()) {
		s.RefillSharing(p)
	} else if f == nil || !f.Fits(sp) { // its request was canceled
		return
	}
	if f.Add(sp) == 0 {
		return
	}
	for _, p := range []*session.Peer{f.Peer, f.Helper} { // which it may be requested of too
		if p != nil && p.Pipe.Cancel(sp) {
			s.RefillSharing(p)
			s.send(p, &proto.Cancel{Span: sp})
		}
	}
}

// onReject removes a request that a peer rejected.
func (s *State) onReject(p *session.Peer, sp proto.Span) {
	if !p.Pipe.Cancel(sp) {
		return
	}
	s.RefillSharing(p)
	p.Rejected(s.Now)
	s.removeHave(p, int(sp.Piece))
	s.release(p, s.Fetches[int(sp.Piece)], sp)
}
