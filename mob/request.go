package mob

import (
	"slices"

	"github.com/mobgrid/mob/proto"
)

// fill requests of every ready peer as much as its pipeline takes.
func (s *State) fill() {
	if s.complete {
		return
	}
	for _, l := range s.levels {
		if open := s.roster.MayFetch(l.Group); open != l.open {
			l.open = open
			for _, p := range s.peers {
				s.wake(p)
			}
		}
	}
	if s.work.Update(s.now) {
		s.reconsiderAll()
	}
	s.sortReady()
	for _, p := range s.ready {
		p.ready = false
		if (p.matched || p.hasStarted()) && (p.local || p.level.open) {
			s.fillPeer(p)
		}
	}
	s.ready = s.ready[:0]
}

func (s *State) fillPeer(p *peer) {
	if p.Paused(s.now, s.t.Queue) {
		return
	}
	block := p.pipe.Block()
	for p.pipe.Room() && !(p.Stalled && p.pipe.Busy()) {
		f := s.next(p)
		if f == nil {
			return
		}
		if f.peer == nil {
			continue // it was claimed ahead
		}
		sp := f.Next(block)
		s.request(p, f, sp)
	}
}

// request requests a span of a fetch.
func (s *State) request(p *peer, f *fetch, sp proto.Span) {
	if !p.pipe.Busy() {
		p.Requested(s.now)
	}
	p.pipe.Request(s.now, sp)
	s.do(Send{Peer: p.ID, Message: &proto.Request{Span: sp}, Made: s.picker.Makes(Peer{p}, f.Piece)})
}

// next returns the fetch to request of p next: the one that it is at, one that has no peer, or a
// new one. It returns nil if there is none.
func (s *State) next(p *peer) *fetch {
	if f := p.current; f != nil && f.peer == p && !f.Requested() {
		return f
	}
	if !p.MayStart(p.pipe.Busy()) {
		return nil
	}
	if f := s.takeClaimed(p); f != nil {
		s.assign(p, f)
		return f
	}
	for k, f := range s.unassigned {
		if !s.maySend(p, f) ||
			!p.local && !f.enters(p.level) && !(p.isActive() && s.mayTake(p.level, f.Piece) && !p.isDeferred(f.Piece)) {
			continue
		}
		s.unassigned = slices.Delete(s.unassigned, k, k+1)
		s.assign(p, f)
		return f
	}
	if p.idle || !p.isActive() || !p.local && !p.pipe.Deep && (p.level.behind && s.stored.Passed.Len() == 0 || s.tooLate(p) || !s.mayClaimAhead(p)) {
		return nil
	}
	i := s.pick(p)
	if i < 0 {
		p.idle = true
		return nil
	}
	return s.startFetch(p, i)
}

// maySend reports whether something of a fetch that has no peer may be requested of p.
func (s *table) maySend(p *peer, f *fetch) bool {
	return !f.Requested() && p.Have.Has(f.Piece) && !(p.Rationed && s.held(p, f.Piece)) && !s.work.Keeps(p.member, f.Piece)
}

// pick returns a piece to begin with p, -1 if there is none.
func (s *State) pick(p *peer) int {
	if s.layout.Count == 0 {
		return -1
	}
	return s.picker.Pick(Peer{p})
}

// mayTake reports whether the node may start a piece for a group: it is free, or the plan assigns it
// to the node.
func (s *table) mayTake(l *level, i int) bool {
	return s.work.Sender(i) != nil || l.Free(i) && !s.work.Leaves(l.Index, i, s.now)
}

// onArrived records a block.
func (s *State) onArrived(id proto.PeerID, sp proto.Span) {
	p := s.joined[id]
	if p == nil {
		return
	}
	s.roster.Seen()
	s.applyChanges()
	if p.Delivered(s.now) {
		p.pipe.Probing = false
		s.recount(p, func() { p.Stalled = false })
	}
	active := 0
	if p.link != nil {
		active = p.activeOver()
	}
	f := s.fetches[int(sp.Piece)]
	if p.pipe.Arrived(s.now, sp, active) {
		s.wakeSharing(p)
	} else if f == nil || !f.Fits(sp) { // its request was canceled
		return
	}
	if f.Add(sp) == 0 {
		return
	}
	for _, p := range []*peer{f.peer, f.helper} { // which it may be requested of too
		if p != nil && p.pipe.Cancel(sp) {
			s.wakeSharing(p)
			s.send(p, &proto.Cancel{Span: sp})
		}
	}
}

// onReject removes a request that a peer rejected.
func (s *State) onReject(p *peer, sp proto.Span) {
	if !p.pipe.Cancel(sp) {
		return
	}
	s.wakeSharing(p)
	p.Rejected(s.now)
	i := int(sp.Piece)
	f := s.fetches[i]
	s.removeHave(p, i)
	s.release(p, f, sp)
	if s.layout.Whole && f.peer == nil { // no part of it has arrived, and another may do as well
		s.giveUp(i)
		s.wanted.Add(i)
		s.reconsiderAll()
	}
}

// tooLate reports whether a piece that is started with a remote peer now would arrive after the group that it
// enters has all pieces, at its present rate. Near the end there are fewer pieces than links, and all members would
// wait for a piece on a slow one. It is left to faster links. If none takes it, the rate falls until the
// piece is started after all.
func (s *table) tooLate(p *peer) bool {
	left, ok := p.level.Inflow.Left(s.now)
	r := p.pipe.Rate()
	return ok && r > 0 && p.level.Seeds == 0 && float64(p.pipe.InFlight()+s.layout.Size)/r > left
}
