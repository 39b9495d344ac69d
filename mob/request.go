package mob

import (
	"cmp"
	"slices"
	"time"

	"github.com/mobgrid/mob/proto"
)

// fill asks every peer for as much as its window takes.
func (s *State) fill() {
	if s.complete {
		return
	}
	wan := s.mayFetchWAN()
	if wan != s.wan {
		s.wan = wan
		for _, p := range s.peers {
			s.wake(p)
		}
	}
	s.finishFirst()
	for _, p := range s.ready {
		p.ready = false
		if (p.matched || p.working()) && (p.local || wan) {
			s.fillPeer(p)
		}
	}
	s.ready = s.ready[:0]
}

// finishFirst orders the keen peers: first those that have the rest of a piece to be
// asked for, the oldest piece before the others, and then by id. Several peers may share a
// link's window, and new pieces of one of them must not take all the room from what
// another has begun.
func (s *State) finishFirst() {
	begun := func(p *peer) time.Time {
		if p.local || !p.working() || p.current.requested() {
			return s.now.Add(1) // after any
		}
		return p.current.started
	}
	slices.SortFunc(s.ready, func(p, q *peer) int { return cmp.Or(begun(p).Compare(begun(q)), comparePeers(p, q)) })
}

// wake has a peer looked at when peers are filled next: it may have got room,
// or something to be asked for.
func (s *State) wake(p *peer) {
	if !p.ready {
		p.ready = true
		s.ready = append(s.ready, p)
	}
}

// reconsiderAll has the node look at all peers for something to request.
func (s *State) reconsiderAll() {
	for _, p := range s.peers {
		p.idle = false
		s.wake(p)
	}
}

// reconsider notes that a piece may have become worth asking for.
func (s *State) reconsider(i int) {
	for _, p := range s.peers {
		if p.have.Has(i) {
			p.idle = false
			s.wake(p)
		}
	}
}

// settle takes back the request for a span, which makes room at the peer, and at
// those that share its link.
func (s *State) removeRequest(p *peer, sp proto.Span) (r request, ok bool) {
	if r, ok = p.removeRequest(sp); ok {
		s.wakeSharing(p)
	}
	return r, ok
}

func (s *State) wakeSharing(p *peer) {
	if p.link == nil {
		s.wake(p)
		return
	}
	for _, q := range p.link.peers {
		s.wake(q)
	}
}

// mayFetchWAN says whether the node knows its cluster well enough: it has heard
// of the members, and each of its own cluster has told what it has, or failed,
// or had its time.
func (s *State) mayFetchWAN() bool {
	if !s.now.Before(s.settled) {
		return true
	}
	if !s.heardOfMembers {
		return false
	}
	if s.membersChanged {
		s.membersChanged = false
		s.clusterKnown = !slices.ContainsFunc(s.nodes[s.cfg.Cluster], func(n *node) bool {
			return n.peer == nil && !n.failed || n.peer != nil && !n.peer.hasTold
		})
	}
	return s.clusterKnown
}

func (s *State) fillPeer(p *peer) {
	if p.stalled && s.now.Sub(p.lastBlock) < s.t.Stall || p.refused >= refusals && s.now.Sub(p.rejected) < s.t.Queue {
		return
	}
	block := p.block(s.t)
	for p.room(s.t) && !(p.stalled && p.busy()) {
		f := s.current(p)
		if f == nil {
			return
		}
		sp := f.request(block)
		p.addRequest(s.now, f, sp)
		s.send(p, &proto.Request{Span: sp})
	}
}

// current is the fetch for which p is asked next: the one that it works on, one
// that lost its worker, or a new one; nil when there is nothing.
func (s *State) current(p *peer) *fetch {
	if f := p.current; f != nil && f.peer == p && !f.requested() {
		return s.unlessDeferred(f)
	}
	for k, f := range s.unassigned {
		if f.requested() || !p.have.Has(f.piece) || !p.local && !f.wan && !(s.isActive(p) && s.free(f.piece)) {
			continue
		}
		s.unassigned = slices.Delete(s.unassigned, k, k+1)
		s.assign(p, f)
		return s.unlessDeferred(f)
	}
	if p.idle || !s.isActive(p) || !p.local && (s.behind || s.tooLate(p)) {
		return nil
	}
	i := s.pick(p)
	if i < 0 {
		p.idle = true
		return nil
	}
	f := newFetch(i, s.layout.size(i), s.now)
	s.wanted.Remove(i)
	s.fetches[i] = f
	s.assign(p, f)
	return s.unlessDeferred(f)
}

// work makes p the worker of a fetch, and claims the piece when it will come
// over the WAN, or from the only one of the cluster that has it: who has much that
// all lack should send each piece once.
func (s *State) assign(p *peer, f *fetch) {
	f.peer, p.current = p, f
	s.touch(f.piece)
	switch {
	case f.wan:
	case !p.local:
		f.wan, f.claimed = true, true
		s.announce(f.piece, updateClaim)
		s.awaitClaims(p, f)
	case s.holders[f.piece] == 1 && s.claims[f.piece] == 0 && s.hasChoice(p, f.piece):
		s.claimLocally(f)
	}
}

// choice says whether a local peer alone has enough pieces, looking from one of
// them on, for every member to begin another one. Of fewer all begin the same,
// whatever they are told: in a large cluster everybody would tell everybody of
// every piece.
func (s *State) hasChoice(p *peer, from int) bool {
	alone, seen := 1, 0
	for i := range s.wanted.Intersection(p.have, from) {
		if s.holders[i] == 1 {
			alone++
		}
		if seen++; alone >= s.size || seen >= maxCandidates {
			break
		}
	}
	return alone >= s.size
}

// arrived notes a block.
func (s *State) onArrived(id proto.PeerID, sp proto.Span) {
	p := s.joined[id]
	if p == nil {
		return
	}
	p.lastSeen, p.lastBlock, p.stalled, p.refused = s.now, s.now, false, 0
	p.meter.add(s.now, int(sp.Length))
	r, ok := s.removeRequest(p, sp)
	if !ok {
		s.arrivedLate(sp)
		return
	}
	if p.link != nil {
		d := s.now.Sub(r.sent)
		p.link.arrived(windowSample{
			bytes:   int(sp.Length),
			held:    p.link.out + int(sp.Length),
			block:   p.block(s.t),
			active:  s.activeOver(p),
			latency: d,
			queue:   max(p.path.queue, d-p.path.rtt),
		})
	}
	r.fetch.add(sp)
	if r.fetch.helper != nil {
		s.cancelElsewhere(p, r.fetch, sp)
	}
}

// arrivedLate notes a block that was taken back, but was on its way already: it
// is in the store as well as any.
func (s *State) arrivedLate(sp proto.Span) {
	f := s.fetches[int(sp.Piece)]
	if f == nil || !f.fits(sp) || f.add(sp) == 0 {
		return
	}
	for _, p := range []*peer{f.peer, f.helper} {
		if p == nil {
			continue
		}
		if _, ok := s.removeRequest(p, sp); ok {
			s.send(p, &proto.Cancel{Span: sp})
		}
	}
}

// cancelElsewhere takes back the second request for a span that has come.
func (s *State) cancelElsewhere(p *peer, f *fetch, sp proto.Span) {
	for _, q := range []*peer{f.peer, f.helper} {
		if q == nil || q == p {
			continue
		}
		if _, ok := s.removeRequest(q, sp); ok {
			s.send(q, &proto.Cancel{Span: sp})
		}
	}
}

// refusals is from how many in a row on a peer is left alone for a moment after each. It is
// not from the first: a piece that was refused is not asked of the peer again, and others
// must not take the longer the shorter pieces are.
const refusals = 4

// rejected takes back a request that a peer will not honour.
func (s *State) onReject(p *peer, sp proto.Span) {
	r, ok := s.removeRequest(p, sp)
	if !ok {
		return
	}
	p.refused, p.rejected = p.refused+1, s.now
	i := int(sp.Piece)
	s.removeHave(p, i)
	s.release(p, r.fetch, sp)
	if s.layout.Whole && r.fetch.peer == nil { // nothing of it has come, and another may do as well
		s.giveUp(i)
		s.wanted.Add(i)
		s.reconsiderAll()
	}
}

// release gives a span back that p will not send, unless a second peer owes it
// too, and leaves the fetch without p.
func (s *State) release(p *peer, f *fetch, sp proto.Span) {
	other := f.peer
	if other == p {
		other = f.helper
	}
	if f.helper == p {
		f.helper = nil
	}
	if other == nil || !other.owes(f, sp) {
		f.giveBack(sp)
	}
	if f.peer == p {
		f.peer, f.helper = f.helper, nil
	}
	if f.requested() || f.peer != nil && f.peer.current == f { // not so a helper that works on another
		return
	}
	s.unassign(f)
	if f.claimed && !f.wan && s.holders[f.piece] == 0 { // else members wait for each other's claims
		f.claimed = false
		s.announce(f.piece, updateDrop)
	}
}

func (s *State) unassign(f *fetch) {
	f.peer = nil
	if s.fetches[f.piece] == f && !slices.Contains(s.unassigned, f) {
		s.unassigned = append(s.unassigned, f)
		s.reconsider(f.piece)
	}
}

// releaseAll takes everything back that p owes.
func (s *State) releaseAll(p *peer) {
	out := p.requests
	p.requests = nil
	p.count(-p.inFlight)
	s.wakeSharing(p)
	for _, r := range out {
		s.release(p, r.fetch, r.span)
	}
	if f := p.current; f != nil && f.peer == p && !f.requested() {
		s.unassign(f)
	}
	p.current = nil
}

// yield stops fetching a piece over the WAN because the own cluster has it, or
// will have it from another member.
func (s *State) yieldFetch(f *fetch) {
	s.cancelRequests(f, func(p *peer) bool { return !p.local })
	f.wan = false
	s.touch(f.piece)
	if f.helper != nil && !f.helper.local {
		f.helper = nil
	}
	s.unassign(f)
}

// cancelFetch stops every request for a fetch that is over.
func (s *State) cancelFetch(f *fetch) {
	s.cancelRequests(f, func(*peer) bool { return true })
	f.peer, f.helper = nil, nil
	s.unassigned = slices.DeleteFunc(s.unassigned, func(g *fetch) bool { return g == f })
}

// giveUp ends the fetch of a piece, if there is one, which the node does not have yet.
func (s *State) giveUp(i int) {
	f := s.fetches[i]
	if f == nil {
		return
	}
	s.cancelFetch(f)
	delete(s.fetches, i)
	s.touch(i)
	if f.claimed {
		s.announce(i, updateDrop)
	}
}

func (s *State) cancelRequests(f *fetch, from func(*peer) bool) {
	for _, p := range s.peers {
		if !from(p) {
			continue
		}
		for k := len(p.requests) - 1; k >= 0; k-- {
			if r := p.requests[k]; r.fetch == f {
				s.removeRequest(p, r.span)
				f.giveBack(r.span)
				s.send(p, &proto.Cancel{Span: r.span})
			}
		}
	}
}

// owes says whether p was asked for a span of a fetch and has not sent it.
func (p *peer) owes(f *fetch, sp proto.Span) bool {
	return slices.ContainsFunc(p.requests, func(r request) bool { return r.fetch == f && r.span == sp })
}

// age is how long the oldest request for a fetch has waited at p.
func (p *peer) age(now time.Time, f *fetch) time.Duration {
	for _, r := range p.requests {
		if r.fetch == f {
			return now.Sub(r.sent)
		}
	}
	return 0
}
