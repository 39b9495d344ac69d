package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// update is what is announced of a piece.
type update uint8

const (
	updateHave  update = iota // it is stored
	updateClaim               // it was requested from outside of a group, or of the only member that has it
	updateDrop                // neither any more
)

// announce announces a piece to every peer that is subscribed to it and whom it concerns, with the
// next batch or at once.
func (s *State) announce(i int, u update) {
	for _, p := range s.peers {
		if !p.subscribed.Has(i) || !s.concerns(p, i, u) {
			continue
		}
		s.announceTo(p, i, u, s.isUrgent(p, i, u))
		if s.skipsBatch(p, i, u) {
			s.flushPeer(p)
		}
	}
}

// concerns reports whether an update concerns a peer: a claim one of the group that the piece enters,
// or of its siblings; and a have one with which the node exchanges pieces, or if it is new to the
// group beside that of the peer. In a large site most haves concern no other rack.
func (s *State) concerns(p *peer, i int, u update) bool {
	switch u {
	case updateClaim:
		return s.fetches[i].concerns(p)
	case updateHave:
		return p.matched || !p.near() || p.level.holders[i] == 0 || s.work.Owes(p.member, i)
	}
	return true
}

// maxEarlyHaves is how many haves do not wait for a batch, to a remote peer that fetches from the
// node. Until it has so many pieces to choose from, its link may be idle for want of them.
const maxEarlyHaves = 32

// skipsBatch reports whether an update is sent at once. Peers of a group get claims on what enters
// it at once, since they might begin the piece themselves, and haves that are new to the group,
// which they announce to others. Where machines are busy these haves wait: the claims have told
// already who brings the pieces, and one message for several costs all members less.
func (s *State) skipsBatch(p *peer, i int, u update) bool {
	switch {
	case u == updateHave && s.work.Owes(p.member, i):
		return true
	case p.near() && u == updateClaim:
		return s.fetches[i].enters(s.home(p))
	case p.near() && u == updateHave && s.home(p).holders[i] == 0:
		return !s.layout.Batched && s.batch() == s.t.Batch
	case p.local:
		return false
	case u != updateHave || s.layout.Batched || !p.fetchesHere() || p.earlyHaves >= maxEarlyHaves:
		return false
	}
	p.earlyHaves++
	return true
}

// isUrgent reports whether a peer may act on an update: in the site on a claim, and on a piece that
// is new to a group that both are in; over a link if it fetches from the node.
func (s *State) isUrgent(p *peer, i int, u update) bool {
	switch home := s.home(p); {
	case u == updateHave && s.work.Owes(p.member, i):
		return true
	case home == nil:
		return p.fetchesHere()
	case u == updateHave:
		return home.holders[i] == 0 || p.fetchesHere()
	}
	return true
}

// announceLoss tells every peer that the node does not have a piece any more, also those that are
// not subscribed to it: they may have been when the node got it.
func (s *State) announceLoss(i int) {
	for _, p := range s.peers {
		s.announceTo(p, i, updateDrop, p.near())
	}
}

// claimLocally claims a piece, to the own cluster, that a single member has.
func (s *State) claimLocally(f *fetch) {
	if f.claimed {
		return
	}
	f.claimed = true
	for _, p := range s.peers {
		if p.local && p.subscribed.Has(f.Piece) && !p.have.Has(f.Piece) {
			s.announceTo(p, f.Piece, updateClaim, true)
			s.flushPeer(p)
		}
	}
}

// relay announces to peers of other sites what a peer of the own claims or drops. A claim counts
// for the site, and a peer of another may not be joined to the member that made it. It changes how
// rare the piece is, and nobody waits for that.
func (s *State) relay(i int, u update) {
	for _, p := range s.peers {
		if !p.near() && p.subscribed.Has(i) {
			s.announceTo(p, i, u, false)
		}
	}
}

// announceTo adds an update to the next batch for a peer, unless it knows better.
func (s *State) announceTo(p *peer, i int, u update, urgent bool) {
	switch u {
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
		if len(p.pending.Have)+len(p.pending.Claim) > 0 {
			s.flushPeer(p) // a reader takes in the drops of a message before the rest
		}
		p.pending.Drop = bitset.Append(p.pending.Drop, i)
	}
	s.scheduleFlush(p, urgent)
	if pendingRanges(p) >= proto.MaxRanges/2 {
		s.flushPeer(p)
	}
}

func pendingRanges(p *peer) int {
	return len(p.pending.Have) + len(p.pending.Claim) + len(p.pending.Drop)
}

// scheduleFlush has the next batch go to a peer. Without urgent updates that may take long.
func (s *State) scheduleFlush(p *peer, urgent bool) {
	p.hasPending = true
	if !p.announcing {
		p.announcing = true
		s.announcing = append(s.announcing, p)
	}
	switch {
	case urgent:
		p.urgent = true
		if s.flushAt.IsZero() {
			s.flushAt = s.flushed.Add(s.batch())
		}
	case s.lazyAt.IsZero():
		s.lazyAt = s.flushed.Add(max(s.batch(), time.Duration(len(s.peers))*s.t.LazyBatch))
	}
}

// batch returns the least time between two batches. Where machines are busy nobody acts on one
// sooner than claims come, and each message costs them more than it tells.
func (s *State) batch() time.Duration { return max(s.t.Batch, s.site().ClaimDelay()) }

// flush sends a batch when it is due.
func (s *State) flush() {
	urgent, lazy := s.due(&s.flushAt), s.due(&s.lazyAt)
	if !urgent && !lazy {
		return
	}
	s.flushed = s.now
	sortPeers(s.announcing)
	left := s.announcing[:0]
	for _, p := range s.announcing {
		switch at := p.flushed.Add(s.pace); {
		case !lazy && !p.urgent:
			left = append(left, p)
			continue
		case !p.near() && s.now.Before(at):
			left = append(left, p)
			if s.flushAt.IsZero() || at.Before(s.flushAt) {
				s.flushAt = at
			}
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

// prunePending drops the haves that a peer of the site has got in the meantime, and reports whether
// anything is left. In a large site most of it is not.
func (s *State) prunePending(p *peer) bool {
	if p.near() {
		old := p.pending.Have
		p.pending.Have = nil
		for i := range bitset.Numbers(old, s.pieces) {
			if !p.have.Has(i) {
				p.pending.Have = bitset.Append(p.pending.Have, i)
			}
		}
	}
	if pendingRanges(p) > 0 || p.near() && p.announcedSlow != s.home(p).slow {
		return true
	}
	p.hasPending = false
	return false
}

// paceBlocks is the number of blocks of the least size that come over the WAN between two messages to a
// peer of another site that can wait. A message, its answer and their headers take about 250 bytes.
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
	s.pace = 0
	if rate > 0 {
		s.pace = min(time.Duration(float64(paceBlocks*s.t.MinBlock)/rate*float64(time.Second)), s.t.Stall/3)
	}
}

// due reports whether a time has come, and clears it then.
func (s *State) due(at *time.Time) bool {
	if at.IsZero() || s.now.Before(*at) {
		return false
	}
	*at = time.Time{}
	return true
}

// flushPeer sends what is pending for a peer.
func (s *State) flushPeer(p *peer) {
	if !p.hasPending {
		return
	}
	m := p.pending
	p.flushed = s.now
	if p.near() {
		p.announcedSlow = s.home(p).slow
		m.Left = uint32(p.announcedSlow)
	}
	p.pending, p.hasPending, p.urgent = proto.Have{}, false, false
	s.send(p, &m)
}

// dropClaim takes back the claim on a piece that is being fetched.
func (s *State) dropClaim(f *fetch) {
	f.claimed = false
	s.announce(f.Piece, updateDrop)
}

// announceAll announces to a peer of another rack what it was not told because it was not matched.
func (s *State) announceAll(p *peer) {
	for i := range s.have.All() {
		if s.offers(i) && p.subscribed.Has(i) {
			s.announceTo(p, i, updateHave, true)
		}
	}
}
