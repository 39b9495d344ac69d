package permutation

import "slices"

// receiving is whose blocks the node takes: one at a time.
type receiving struct {
	from       *peer // whose block is on its way, or nil
	fromRound  int   // the round in which that was offered
	next       *peer // whose offer waits for its end, or nil
	nextOffer  Offered
	turnedAway []*peer // for now: who is to be told when the node is free
}

// offered answers a peer that has a block. A node that is busy has whose turn it is
// wait for the end of the block before: where all have the same rate, that is
// near. It refuses all others, so that they look on, and tells them later. The
// sender of that block may be among either: it is done before its block has come.
func (s *State) offered(ev Offered) {
	p := s.joined[ev.Peer]
	if p == nil || p == s.next {
		return
	}
	s.hear(ev.Round)
	switch {
	case !s.takes(ev.Batch):
		s.refuse(p, ev.Batch)
	case s.from == nil:
		s.accept(p, ev.Round)
	case s.next == nil && ev.Skipped == 0 && ev.Round == s.fromRound+1:
		s.next, s.nextOffer = p, ev
	default:
		s.turnAway(p, ev.Batch)
	}
}

// turnAway refuses an offer for now.
func (s *State) turnAway(p *peer, batch int) {
	s.refuse(p, batch)
	if !slices.Contains(s.turnedAway, p) {
		s.turnedAway = append(s.turnedAway, p)
	}
}

// takes says whether the node has a use for a batch now.
func (s *State) takes(batch int) bool {
	return s.valid(batch) && !s.batches[batch].filled && batch <= s.oldest+1
}

func (s *State) accept(p *peer, round int) {
	s.from, s.fromRound = p, round
	s.do(Accept{Peer: p.id})
}

func (s *State) refuse(p *peer, batch int) {
	s.do(Refuse{Peer: p.id, Round: s.round, Decoded: s.valid(batch) && s.batches[batch].filled})
}

// free takes the block of who waits, when the one before has come or is lost, or
// tells those that were refused.
func (s *State) free() {
	s.from = nil
	if p := s.next; p != nil {
		s.next = nil
		if s.takes(s.nextOffer.Batch) {
			s.accept(p, s.nextOffer.Round)
			return
		}
		s.refuse(p, s.nextOffer.Batch)
	}
	for _, p := range s.turnedAway {
		s.do(Free{Peer: p.id})
	}
	s.turnedAway = s.turnedAway[:0]
}

// waitNoLonger turns away who waits for what takes longer than blocks do.
func (s *State) waitNoLonger() {
	if s.next != nil {
		s.turnAway(s.next, s.nextOffer.Batch)
		s.next = nil
	}
}

// came ends the way of a block.
func (s *State) came(p *peer) {
	switch p {
	case s.from:
		s.free()
	default:
		if s.cfg.Window > 0 {
			s.do(Confirm{Peer: p.id})
		}
	}
}

// expectNothing forgets what a peer has offered.
func (s *State) expectNothing(p *peer) {
	if s.next == p {
		s.next = nil
	}
	if s.from == p {
		s.free()
	}
}
