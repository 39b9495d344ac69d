package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// The kinds of news.
const (
	updateHave = iota
	updateClaim
	updateDrop
)

// announce gathers news of a piece for every peer that wishes to hear of it.
func (s *State) announce(i, kind int) {
	for _, p := range s.peers {
		if !p.subscribed.Has(i) {
			continue
		}
		s.announceTo(p, i, kind, s.urgent(p, i, kind))
		if s.announcesAtOnce(p, i, kind) {
			s.flushPeer(p)
		}
	}
}

// maxEarlyHaves is how many pieces a far peer that fetches from here hears of at once. Until
// it has so many to choose from its link may stand idle for want of them.
const maxEarlyHaves = 32

// announcesAtOnce says whether news does not wait for a batch. Local peers hear at once of
// claims, since they might begin the piece themselves, and of what is new to the cluster,
// which they pass on to others. Blocks of a coded transfer come many at a time, with the
// last of a generation.
func (s *State) announcesAtOnce(p *peer, i, kind int) bool {
	switch {
	case p.local:
		return kind == updateClaim || kind == updateHave && s.holders[i] == 0 && !s.layout.Batched
	case kind != updateHave || s.layout.Batched || !p.measures() || p.earlyHaves >= maxEarlyHaves:
		return false
	}
	p.earlyHaves++
	return true
}

// announceLoss tells every peer that the node does not have a piece any more. Those who
// wish to hear nothing may have been silent when they got it too.
func (s *State) announceLoss(i int) {
	for _, p := range s.peers {
		s.announceTo(p, i, updateDrop, p.local)
	}
}

// claimLocally tells the own cluster that a piece which one member has is on its
// way to a second.
func (s *State) claimLocally(f *fetch) {
	if f.claimed {
		return
	}
	f.claimed = true
	for _, p := range s.peers {
		if p.local && p.subscribed.Has(f.piece) && !p.have.Has(f.piece) {
			s.announceTo(p, f.piece, updateClaim, true)
			s.flushPeer(p)
		}
	}
}

// relay tells other clusters what a local peer does: news count for the cluster,
// and who wishes to hear of a piece may not be joined to who fetches it. They
// change how rare it is there, and nobody waits for that.
func (s *State) relay(i, kind int) {
	for _, p := range s.peers {
		if !p.local && p.subscribed.Has(i) {
			s.announceTo(p, i, kind, false)
		}
	}
}

// urgent says whether a peer may act on news of what the node does: on the LAN
// on a claim, and on a piece that is new to the cluster; far away if it fetches
// over the link from here.
func (s *State) urgent(p *peer, i, kind int) bool {
	if p.local {
		return kind != updateHave || s.holders[i] == 0
	}
	return p.measures()
}

func (s *State) announceTo(p *peer, i, kind int, urgent bool) {
	switch kind {
	case updateHave:
		if p.have.Has(i) {
			return
		}
		p.pending.Have = bitset.Append(p.pending.Have, i)
	case updateClaim:
		if p.have.Has(i) {
			return
		}
		p.pending.Claim = bitset.Append(p.pending.Claim, i)
	case updateDrop:
		// A reader takes a message's drops first: what was told before goes out
		// before them.
		s.flushPeer(p)
		p.pending.Drop = bitset.Append(p.pending.Drop, i)
	}
	s.scheduleFlush(p, urgent)
	if len(p.pending.Have)+len(p.pending.Claim)+len(p.pending.Drop) >= proto.MaxRanges/2 {
		s.flushPeer(p)
	}
}

// owe notes that a peer has news to be told with the next batch, which may be
// long in coming if they are not urgent.
func (s *State) scheduleFlush(p *peer, urgent bool) {
	if p.hasPending = true; !p.announcing {
		p.announcing = true
		s.announcing = append(s.announcing, p)
	}
	switch {
	case urgent:
		p.urgent = true
		if s.flushAt.IsZero() {
			s.flushAt = s.flushed.Add(s.t.Batch)
		}
	case s.lazyAt.IsZero():
		s.lazyAt = s.flushed.Add(max(s.t.Batch, time.Duration(len(s.peers))*s.t.LazyBatch))
	}
}

// flush sends the news when a batch is due.
func (s *State) flush() {
	urgent, lazy := s.due(&s.flushAt), s.due(&s.lazyAt)
	if !urgent && !lazy {
		return
	}
	s.flushed = s.now
	sortPeers(s.announcing)
	left := s.announcing[:0]
	for _, p := range s.announcing {
		if !lazy && !p.urgent {
			left = append(left, p)
			continue
		}
		p.announcing, p.urgent = false, false
		if s.prunePending(p) {
			s.flushPeer(p)
		}
	}
	clear(s.announcing[len(left):])
	s.announcing = left
}

// prunePending drops what a local peer has got in the meantime from the news for it, and
// says whether anything is left. In a large cluster most of it is not.
func (s *State) prunePending(p *peer) bool {
	if p.local {
		old := p.pending.Have
		p.pending.Have = nil
		for i := range bitset.Numbers(old, s.pieces) {
			if !p.have.Has(i) {
				p.pending.Have = bitset.Append(p.pending.Have, i)
			}
		}
	}
	if len(p.pending.Have)+len(p.pending.Claim)+len(p.pending.Drop) > 0 || p.local && p.announcedSlow != s.slowCount {
		return true
	}
	p.hasPending = false
	return false
}

// due says whether a time has come, and if so clears it.
func (s *State) due(at *time.Time) bool {
	if at.IsZero() || s.now.Before(*at) {
		return false
	}
	*at = time.Time{}
	return true
}

func (s *State) flushPeer(p *peer) {
	if !p.hasPending {
		return
	}
	m := p.pending
	if p.local {
		m.Left, p.announcedSlow = uint32(s.slowCount), s.slowCount
	}
	p.pending, p.hasPending = proto.Have{}, false
	s.send(p, &m)
}

// wish says which news the node wishes from a peer: of all pieces from those of
// whom it may ask for any, of its share from others whom it may come to ask, to
// know whether there is work, and none from the rest.
func (s *State) interestIn(p *peer) interest {
	switch {
	case s.complete || !p.matched:
		return noInterest
	case s.isActive(p):
		return allInterest
	}
	return shareInterest
}

// sendWant tells it.
func (s *State) sendWant(p *peer) {
	var rs []proto.Range
	p.interestSent, p.interest = true, s.interestIn(p)
	switch p.interest {
	case allInterest:
		rs = []proto.Range{{Count: uint32(s.pieces)}}
	case shareInterest:
		if n := s.share.end - s.share.first; n > 0 {
			rs = []proto.Range{{First: uint32(s.share.first), Count: uint32(n)}}
		}
	}
	s.send(p, &proto.Want{Pieces: rs})
}

// interested takes in what a peer wishes to hear of, and tells it what is new to it.
func (s *State) onWant(p *peer, m *proto.Want) {
	s.hasten()
	old := p.subscribed
	p.subscribed = bitset.New(s.pieces)
	for i := range bitset.Numbers(m.Pieces, s.pieces) {
		p.subscribed.Add(i)
		if old.Has(i) {
			continue
		}
		if s.have.Has(i) {
			s.announceTo(p, i, updateHave, true)
		} else if f := s.fetches[i]; f != nil && f.wan || !p.local && !s.free(i) {
			s.announceTo(p, i, updateClaim, true)
		}
	}
	p.hasPending = true
	s.flushPeer(p)
}

// heard takes in a peer's news.
func (s *State) onHave(p *peer, m *proto.Have) {
	first := !p.hasTold
	if first {
		p.hasTold, s.membersChanged = true, true
	}
	if len(m.Have) > 0 {
		p.idle = false
	}
	s.wake(p)
	p.slow = int(m.Left)
	for i := range bitset.Numbers(m.Drop, s.pieces) {
		s.removeHave(p, i)
		s.removeClaim(p, i)
		if f := s.fetches[i]; p.subscribed.Has(i) { // it was not told while the peer had it too
			switch {
			case s.have.Has(i):
				s.announceTo(p, i, updateHave, true)
			case f != nil && f.wan:
				s.announceTo(p, i, updateClaim, true)
			}
		}
	}
	for i := range bitset.Numbers(m.Claim, s.pieces) {
		s.addClaim(p, i)
	}
	for i := range bitset.Numbers(m.Have, s.pieces) {
		s.addHave(p, i)
	}
	if first && p.have.Full() {
		p.slow = 0
	}
}

func (s *State) addClaim(p *peer, i int) {
	if p.have.Has(i) || !p.claim.Add(i) {
		return
	}
	if !p.local {
		s.addRemote(p, i)
		return
	}
	s.touch(i)
	if s.claims[i]++; s.holders[i] > 0 {
		return
	}
	s.relay(i, updateClaim)
	if p.ID < s.cfg.Self {
		s.picker.Claimed(i)
	}
	// Two members asked for one piece while their news crossed: the one with
	// the lesser id goes on.
	if f := s.fetches[i]; f != nil && f.wan && p.ID < s.cfg.Self {
		s.yieldFetch(f)
		f.claimed = false
		s.announce(i, updateDrop)
	}
}

func (s *State) addHave(p *peer, i int) {
	if !p.have.Add(i) {
		return
	}
	s.touch(i)
	if !p.local {
		p.claim.Remove(i)
		s.addRemote(p, i)
		if s.isActive(p) {
			s.takeTurn(p, i)
		}
		return
	}
	if s.holders[i]++; s.holders[i] == 1 && !s.have.Has(i) {
		s.gained(i)
	}
	s.removeClaim(p, i)
	if f := s.fetches[i]; f != nil && f.wan && 2*f.missing > f.size && !s.picker.Doubtful(i) {
		s.yieldFetch(f)
	}
}

// hold marks a piece as being in another cluster, or on its way there.
func (s *State) addRemote(p *peer, i int) {
	if s.remote[p.Cluster].pieces.Add(i) {
		s.rarity[i]++
		s.touch(i)
	}
}

// removeHave takes back that a peer has a piece.
func (s *State) removeHave(p *peer, i int) {
	if !p.have.Remove(i) {
		return
	}
	delete(p.deferred, i)
	s.touch(i)
	if p.local {
		if s.holders[i]--; s.holders[i] == 0 && !s.have.Has(i) {
			s.inflow.lacking++
		}
		if f := s.fetches[i]; s.holders[i] == 0 && f != nil && f.claimed && !f.wan {
			f.claimed = false // nobody sends it, and two could wait for each other
			s.announce(i, updateDrop)
		}
		s.reconsider(i)
	} else {
		s.removeRemote(p, i)
	}
}

// removeClaim takes back that a peer claims a piece.
func (s *State) removeClaim(p *peer, i int) {
	if !p.claim.Remove(i) {
		return
	}
	if p.local {
		s.claims[i]--
		s.touch(i)
		if f := s.fetches[i]; s.free(i) && !s.have.Has(i) && (f == nil || !f.wan) {
			s.reconsider(i)
			s.relay(i, updateDrop)
		}
	} else {
		s.removeRemote(p, i)
	}
}

// removeRemote corrects the rarity of a piece after p gave it up.
func (s *State) removeRemote(p *peer, i int) {
	for _, q := range p.link.peers {
		if q.have.Has(i) || q.claim.Has(i) {
			return
		}
	}
	if h := s.remote[p.Cluster]; h != nil && h.pieces.Remove(i) {
		s.rarity[i]--
		s.touch(i)
	}
}
