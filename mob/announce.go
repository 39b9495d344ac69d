package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// The kinds of news.
const (
	tellHave = iota
	tellClaim
	tellDrop
)

// announce gathers news of a piece for every peer that wishes to hear of it.
func (s *State) announce(i, kind int) {
	for _, p := range s.peers {
		if !p.wants.Has(i) {
			continue
		}
		s.tellPeer(p, i, kind, s.urgent(p, i, kind))
		if s.tellsAtOnce(p, i, kind) {
			s.flushPeer(p)
		}
	}
}

// firstNews is how many pieces a far peer that fetches from here hears of at once. Until
// it has so many to choose from its link may stand idle for want of them.
const firstNews = 32

// tellsAtOnce says whether news does not wait for a batch. Local peers hear at once of
// claims, since they might begin the piece themselves, and of what is new to the cluster,
// which they pass on to others. Blocks of a coded transfer come many at a time, with the
// last of a generation.
func (s *State) tellsAtOnce(p *peer, i, kind int) bool {
	switch {
	case p.local:
		return kind == tellClaim || kind == tellHave && s.holders[i] == 0 && !s.layout.Batched
	case kind != tellHave || s.layout.Batched || !p.measures() || p.toldFirst >= firstNews:
		return false
	}
	p.toldFirst++
	return true
}

// tellLost tells every peer that the node does not have a piece any more. Those who
// wish to hear nothing may have been silent when they got it too.
func (s *State) tellLost(i int) {
	for _, p := range s.peers {
		s.tellPeer(p, i, tellDrop, p.local)
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
		if p.local && p.wants.Has(f.piece) && !p.have.Has(f.piece) {
			s.tellPeer(p, f.piece, tellClaim, true)
			s.flushPeer(p)
		}
	}
}

// relay tells other clusters what a local peer does: news count for the cluster,
// and who wishes to hear of a piece may not be joined to who fetches it. They
// change how rare it is there, and nobody waits for that.
func (s *State) relay(i, kind int) {
	for _, p := range s.peers {
		if !p.local && p.wants.Has(i) {
			s.tellPeer(p, i, kind, false)
		}
	}
}

// urgent says whether a peer may act on news of what the node does: on the LAN
// on a claim, and on a piece that is new to the cluster; far away if it fetches
// over the link from here.
func (s *State) urgent(p *peer, i, kind int) bool {
	if p.local {
		return kind != tellHave || s.holders[i] == 0
	}
	return p.measures()
}

func (s *State) tellPeer(p *peer, i, kind int, urgent bool) {
	switch kind {
	case tellHave:
		if p.have.Has(i) {
			return
		}
		p.tell.Have = bitset.Append(p.tell.Have, i)
	case tellClaim:
		if p.have.Has(i) {
			return
		}
		p.tell.Claim = bitset.Append(p.tell.Claim, i)
	case tellDrop:
		// A reader takes a message's drops first: what was told before goes out
		// before them.
		s.flushPeer(p)
		p.tell.Drop = bitset.Append(p.tell.Drop, i)
	}
	s.owe(p, urgent)
	if len(p.tell.Have)+len(p.tell.Claim)+len(p.tell.Drop) >= proto.MaxRanges/2 {
		s.flushPeer(p)
	}
}

// owe notes that a peer has news to be told with the next batch, which may be
// long in coming if they are not urgent.
func (s *State) owe(p *peer, urgent bool) {
	if p.owesHave = true; !p.owing {
		p.owing = true
		s.owing = append(s.owing, p)
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
	sortPeers(s.owing)
	left := s.owing[:0]
	for _, p := range s.owing {
		if !lazy && !p.urgent {
			left = append(left, p)
			continue
		}
		p.owing, p.urgent = false, false
		if s.isNews(p) {
			s.flushPeer(p)
		}
	}
	clear(s.owing[len(left):])
	s.owing = left
}

// isNews drops what a local peer has got in the meantime from the news for it, and
// says whether anything is left. In a large cluster most of it is not.
func (s *State) isNews(p *peer) bool {
	if p.local {
		old := p.tell.Have
		p.tell.Have = nil
		for i := range bitset.Numbers(old, s.pieces) {
			if !p.have.Has(i) {
				p.tell.Have = bitset.Append(p.tell.Have, i)
			}
		}
	}
	if len(p.tell.Have)+len(p.tell.Claim)+len(p.tell.Drop) > 0 || p.local && p.toldTardy != s.tardy {
		return true
	}
	p.owesHave = false
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
	if !p.owesHave {
		return
	}
	m := p.tell
	if p.local {
		m.Left, p.toldTardy = uint32(s.tardy), s.tardy
	}
	p.tell, p.owesHave = proto.Have{}, false
	s.send(p, &m)
}

// wish says which news the node wishes from a peer: of all pieces from those of
// whom it may ask for any, of its share from others whom it may come to ask, to
// know whether there is work, and none from the rest.
func (s *State) wish(p *peer) wish {
	switch {
	case s.frozen || !p.matched:
		return nothing
	case s.onCrew(p):
		return all
	}
	return share
}

// sendWant tells it.
func (s *State) sendWant(p *peer) {
	var rs []proto.Range
	p.greeted, p.wished = true, s.wish(p)
	switch p.wished {
	case all:
		rs = []proto.Range{{Count: uint32(s.pieces)}}
	case share:
		if n := s.share.end - s.share.first; n > 0 {
			rs = []proto.Range{{First: uint32(s.share.first), Count: uint32(n)}}
		}
	}
	s.send(p, &proto.Want{Pieces: rs})
}

// interested takes in what a peer wishes to hear of, and tells it what is new to it.
func (s *State) interested(p *peer, m *proto.Want) {
	s.hasten()
	old := p.wants
	p.wants = bitset.New(s.pieces)
	for i := range bitset.Numbers(m.Pieces, s.pieces) {
		p.wants.Add(i)
		if old.Has(i) {
			continue
		}
		if s.have.Has(i) {
			s.tellPeer(p, i, tellHave, true)
		} else if f := s.fetches[i]; f != nil && f.wan || !p.local && !s.free(i) {
			s.tellPeer(p, i, tellClaim, true)
		}
	}
	p.owesHave = true
	s.flushPeer(p)
}

// heard takes in a peer's news.
func (s *State) heard(p *peer, m *proto.Have) {
	first := !p.heard
	if first {
		p.heard, s.changed = true, true
	}
	if len(m.Have) > 0 {
		p.idle = false
	}
	s.revive(p)
	p.left = int(m.Left)
	for i := range bitset.Numbers(m.Drop, s.pieces) {
		s.unhave(p, i)
		s.unclaim(p, i)
		if f := s.fetches[i]; p.wants.Has(i) { // it was not told while the peer had it too
			switch {
			case s.have.Has(i):
				s.tellPeer(p, i, tellHave, true)
			case f != nil && f.wan:
				s.tellPeer(p, i, tellClaim, true)
			}
		}
	}
	for i := range bitset.Numbers(m.Claim, s.pieces) {
		s.heardClaim(p, i)
	}
	for i := range bitset.Numbers(m.Have, s.pieces) {
		s.heardHave(p, i)
	}
	if first && p.have.Full() {
		p.left = 0
	}
}

func (s *State) heardClaim(p *peer, i int) {
	if p.have.Has(i) || !p.claim.Add(i) {
		return
	}
	if !p.local {
		s.hold(p, i)
		return
	}
	s.touch(i)
	if s.claims[i]++; s.holders[i] > 0 {
		return
	}
	s.relay(i, tellClaim)
	if p.ID < s.cfg.Self {
		s.picker.Claimed(i)
	}
	// Two members asked for one piece while their news crossed: the one with
	// the lesser id goes on.
	if f := s.fetches[i]; f != nil && f.wan && p.ID < s.cfg.Self {
		s.yield(f)
		f.claimed = false
		s.announce(i, tellDrop)
	}
}

func (s *State) heardHave(p *peer, i int) {
	if !p.have.Add(i) {
		return
	}
	s.touch(i)
	if !p.local {
		p.claim.Remove(i)
		s.hold(p, i)
		if s.onCrew(p) {
			s.putOff(p, i)
		}
		return
	}
	if s.holders[i]++; s.holders[i] == 1 && !s.have.Has(i) {
		s.gained(i)
	}
	s.unclaim(p, i)
	if f := s.fetches[i]; f != nil && f.wan && 2*f.missing > f.size && !s.picker.Doubtful(i) {
		s.yield(f)
	}
}

// hold marks a piece as being in another cluster, or on its way there.
func (s *State) hold(p *peer, i int) {
	if s.held[p.Cluster].pieces.Add(i) {
		s.rarity[i]++
		s.touch(i)
	}
}

// unhave takes back that a peer has a piece.
func (s *State) unhave(p *peer, i int) {
	if !p.have.Remove(i) {
		return
	}
	delete(p.turns, i)
	s.touch(i)
	if p.local {
		if s.holders[i]--; s.holders[i] == 0 && !s.have.Has(i) {
			s.inflow.lacking++
		}
		if f := s.fetches[i]; s.holders[i] == 0 && f != nil && f.claimed && !f.wan {
			f.claimed = false // nobody sends it, and two could wait for each other
			s.announce(i, tellDrop)
		}
		s.reconsider(i)
	} else {
		s.unhold(p, i)
	}
}

// unclaim takes back that a peer claims a piece.
func (s *State) unclaim(p *peer, i int) {
	if !p.claim.Remove(i) {
		return
	}
	if p.local {
		s.claims[i]--
		s.touch(i)
		if f := s.fetches[i]; s.free(i) && !s.have.Has(i) && (f == nil || !f.wan) {
			s.reconsider(i)
			s.relay(i, tellDrop)
		}
	} else {
		s.unhold(p, i)
	}
}

// unhold corrects the rarity of a piece after p gave it up.
func (s *State) unhold(p *peer, i int) {
	for _, q := range p.link.peers {
		if q.have.Has(i) || q.claim.Has(i) {
			return
		}
	}
	if h := s.held[p.Cluster]; h != nil && h.pieces.Remove(i) {
		s.rarity[i]--
		s.touch(i)
	}
}
