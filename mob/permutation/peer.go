package permutation

import (
	"slices"

	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

// permuted takes a topology. One without the node itself is not meant for it.
func (s *State) permuted(ev Permuted) {
	t := ev.Topology
	place, ok := t.Place(s.cfg.Self)
	if !ok {
		return
	}
	s.topology, s.sinces, s.place = t, ev.Since, place
	s.calendar = newCalendar(s.cfg.Batches, len(t.Members()))
	s.places = make([]*peer, len(t.Members()))
	for i, id := range t.Members() {
		s.places[i] = s.joined[id]
	}
	s.count()
	s.again()
}

func (s *State) join(ev Joined) {
	if s.joined[ev.Peer] != nil || ev.Peer == s.cfg.Self {
		return
	}
	p := &peer{id: ev.Peer, decoded: pieceset.New(len(s.batches)), has: make([]*pieceset.Set, len(s.batches))}
	for _, i := range ev.Decoded {
		p.decoded.Add(i)
	}
	s.joined[ev.Peer] = p
	if place, ok := s.topology.Place(ev.Peer); ok {
		s.places[place] = p
		s.lackedBy(p, place, 1)
	}
}

// leave forgets a peer, and what was on its way from or to it.
func (s *State) leave(id proto.PeerID) {
	p := s.joined[id]
	if p == nil {
		return
	}
	delete(s.joined, id)
	if place, ok := s.topology.Place(id); ok {
		s.places[place] = nil
		s.lackedBy(p, place, -1)
	}
	s.turnedAway = slices.DeleteFunc(s.turnedAway, func(q *peer) bool { return q == p })
	s.expectNothing(p)
	if s.to == p {
		s.to, s.busy = nil, false
	}
	s.forget(p)
	s.again()
}

// note keeps in mind that a peer has decoded a batch, and says whether that is
// news.
func (s *State) note(p *peer, i int) bool {
	if !p.decoded.Add(i) {
		return false
	}
	p.has[i] = nil
	if place, ok := s.topology.Place(p.id); ok {
		s.lack(i, s.since(place), -1)
		s.findOldest()
	}
	return true
}

// lacks notes that a peer needs a batch after all.
func (s *State) lacks(ev Lacks) {
	p := s.joined[ev.Peer]
	if p == nil || !p.decoded.Remove(ev.Batch) {
		return
	}
	if place, ok := s.topology.Place(p.id); ok {
		s.lack(ev.Batch, s.since(place), 1)
		s.findOldest()
	}
	s.again()
}

// mapped keeps what a peer has. It may tell less than it did.
func (s *State) mapped(ev Mapped) {
	p := s.joined[ev.Peer]
	if p != nil && s.valid(ev.Batch) && ev.Has.Cap() == s.cfg.Batches[ev.Batch] {
		p.has[ev.Batch] = ev.Has
	}
}

// since is the batch from which on others wait for the member of a place.
func (s *State) since(place int) int {
	if place < len(s.sinces) {
		return s.sinces[place]
	}
	return 0
}

// count counts who lacks what, after the members have changed.
func (s *State) count() {
	clear(s.lacked)
	clear(s.awaited)
	for i := range s.batches {
		if !s.batches[i].filled {
			s.lack(i, s.since(s.place), 1)
		}
	}
	s.findOldest()
	for place, p := range s.places {
		if p != nil {
			s.lackedBy(p, place, 1)
		}
	}
}

// lackedBy adds what a member lacks, or takes it away.
func (s *State) lackedBy(p *peer, place, by int) {
	since := s.since(place)
	for i := range s.lacked {
		if !p.decoded.Has(i) {
			s.lack(i, since, by)
		}
	}
	s.findOldest()
}

// lack counts one more or less that lacks a batch, and others wait for it since another.
func (s *State) lack(i, since, by int) {
	s.lacked[i] += by
	if i >= since {
		s.awaited[i] += by
	}
}

func (s *State) findOldest() {
	some := func(n int) bool { return n > 0 }
	if s.oldest = slices.IndexFunc(s.awaited, some); s.oldest >= 0 {
		return
	}
	if s.oldest = slices.IndexFunc(s.lacked, some); s.oldest < 0 {
		s.oldest = len(s.lacked)
	}
}
