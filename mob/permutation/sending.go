package permutation

import "github.com/mobgrid/mob/proto"

// maxRound bounds the rounds that peers can tell of.
const maxRound = 1 << 30

// sending is whom the node sends to, and how it finds the next one. A turn begins
// when the node is free to send; it ends with a block sent, or with nobody found.
type sending struct {
	// round is the round of the turn. Each node counts its own turns, and is never
	// behind what it has heard, so that all use the same order at about the same
	// time.
	round, heard int
	turns        int // the number of the turn, from 1
	looked       int // orders looked at in this turn
	to           *peer
	batch, block int           // what the peer was offered
	busy         bool          // the block is on its way
	unconfirmed  []unconfirmed // without offers: the window
}

// idle says that the node neither sends nor waits for an answer.
func (s *State) idle() bool { return s.to == nil && s.open() }

// hear notes which round a peer has come to.
func (s *State) hear(round int) {
	if round > s.heard && round < maxRound {
		s.heard = round
	}
}

// turn begins the next turn, a round later.
func (s *State) turn() {
	s.round++
	s.turns++
	s.again()
}

// look goes through the orders, from that of the round on.
func (s *State) look() {
	s.round = max(s.round, s.heard)
	s.looked = 0
	s.seek()
}

// again looks once more, in a turn in which there was nobody, after something has
// changed.
func (s *State) again() {
	if s.idle() {
		s.look()
	}
}

// freed looks once more at a peer that was busy.
func (s *State) freed(id proto.PeerID) {
	if p := s.joined[id]; p != nil && p != s.to {
		p.tried = 0
		s.again()
	}
}

// seek offers a block to the first that takes one of its successors, from the
// round's order on.
func (s *State) seek() {
	c := s.cfg.Order.choose(&s.calendar, s.oldest, s.round)
	for s.looked < orders {
		p := s.places[s.topology.Successor(s.round+s.looked, s.place)]
		s.looked++
		if p == nil || p.tried == s.turns || s.waitsFor(p) {
			continue
		}
		for _, batch := range [...]int{c.first, c.second} {
			block, ok := s.pick(p, batch)
			if !ok {
				continue
			}
			p.tried = s.turns
			s.to, s.batch, s.block = p, batch, block
			if s.cfg.Window > 0 {
				s.push()
				return
			}
			s.do(Offer{Peer: p.id, Batch: batch, Round: s.round, Skipped: s.looked - 1})
			return
		}
	}
}

// pick chooses a block of a batch for a peer; with codes that is any.
func (s *State) pick(p *peer, batch int) (block int, ok bool) {
	if batch == none || p.decoded.Has(batch) {
		return 0, false
	}
	b := &s.batches[batch]
	if b.has == nil {
		return 0, b.decoded && !b.gone || b.came > 0
	}
	return b.has.Pick(p.has[batch], s.rng.IntN)
}

// accepted sends what was offered.
func (s *State) accepted(id proto.PeerID) {
	if s.to == nil || s.to.id != id || s.busy {
		return
	}
	s.busy = true
	if block, ok := s.pick(s.to, s.batch); ok {
		s.block = block // the peer may have told more since the offer
	}
	s.do(Send{Peer: id, Batch: s.batch, Block: s.block})
}

// refused goes on to the next.
func (s *State) refused(ev Refused) {
	p := s.joined[ev.Peer]
	if p == nil {
		return
	}
	s.hear(ev.Round)
	if ev.Decoded && p == s.to {
		s.note(p, s.batch)
	}
	if p == s.to && !s.busy {
		s.to = nil
		s.seek()
	}
}

// sent ends the turn.
func (s *State) sent(id proto.PeerID) {
	if s.to == nil || s.to.id != id || !s.busy {
		return
	}
	s.to, s.busy = nil, false
	s.turn()
}
