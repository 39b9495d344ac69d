package mob

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/proto"
)

// stealPause is how long a member that gave nothing is left alone.
const stealPause = 250 * time.Millisecond

// steal asks the local peer with the most left for a part of its share, when
// the node could fetch over the WAN and has nothing of its own to ask for.
func (s *State) steal() {
	if s.frozen || !s.mayFetchWAN() || !s.hungry() && !s.hungryForRare() {
		return
	}
	if q := s.joined[s.stealing]; q != nil && s.now.Sub(q.askedSteal) < time.Second {
		return
	}
	var victim *peer
	waiting := false
	for _, p := range s.peers {
		if !p.local || p.left == 0 {
			continue
		}
		waiting = true
		if !p.dry && s.now.Sub(p.askedSteal) >= stealPause && (victim == nil || p.left > victim.left) {
			victim = p
		}
	}
	if victim == nil {
		if !waiting && s.now.Sub(s.ownedAt) > s.t.Stall {
			s.reown()
		}
		return
	}
	victim.askedSteal = s.now
	s.stealing = victim.ID
	s.send(victim, &proto.Steal{Rate: uint64(s.rateWAN())})
}

// hungry says whether a global peer waits for requests and no own piece is left.
func (s *State) hungry() bool {
	s.countLeft()
	if s.left > 0 {
		return false
	}
	for _, p := range s.peers {
		if p.matched && !p.local && p.heard && !p.stalled && s.turn(p) && p.room(s.t) {
			return true
		}
	}
	return false
}

// rare says whether at most one other cluster has the piece or asked for it.
func (s *State) rare(i int) bool { return s.rarity[i] <= 1 }

// hungryForRare says whether a global peer that has all is asked for pieces
// that another cluster has too, because of the own pieces none is rare.
func (s *State) hungryForRare() bool {
	rare := false
	s.eachLeft(func(i int) bool {
		rare = s.rare(i)
		return !rare
	})
	if rare {
		return false
	}
	for _, p := range s.peers {
		if p.matched && !p.local && !p.stalled && p.owed() && p.have.Len() >= s.own.Len() {
			return true
		}
	}
	return false
}

// rateWAN is the node's rate over the WAN, in bytes per second.
func (s *State) rateWAN() float64 {
	sum := 0.0
	for _, p := range s.peers {
		if !p.local && !p.stalled {
			sum += p.meter.rate()
		}
	}
	return sum
}

// give answers a steal. What the node cannot get itself goes to the thief; of
// the rest each keeps a part by its rate, so that both finish at the same time
// (Robber takes half: the rates of equals), rare pieces and others apart. When
// nothing is left but what the node began and is slow at, the thief gets that.
func (s *State) give(p *peer, rate uint64) {
	m := &proto.Give{}
	if p.local {
		for _, i := range s.gifts(p, rate) {
			if len(m.Pieces) < proto.MaxRanges {
				m.Pieces = appendPiece(m.Pieces, i)
				s.own.Remove(i)
			}
		}
	}
	s.send(p, m)
	if len(m.Pieces) > 0 {
		s.ownChanged()
	}
}

func (s *State) gifts(p *peer, rate uint64) []int {
	theirs := max(float64(rate), 1)
	part := theirs / (theirs + s.rateWAN())
	var is, rare, common []int
	s.eachLeft(func(i int) bool {
		switch {
		case !s.offered(i):
			is = append(is, i)
		case s.rare(i):
			rare = append(rare, i)
		case p.left == 0:
			common = append(common, i)
		}
		return true
	})
	is = append(is, rare[len(rare)-int(float64(len(rare))*part):]...)
	is = append(is, common[len(common)-int(float64(len(common))*part):]...)
	if len(is) > 0 || p.left > 0 {
		return is
	}
	for _, f := range s.slow() {
		if s.remaining(f).Seconds() > slowPiece.Seconds()+2*float64(f.size)/theirs {
			s.putBack(f)
			is = append(is, f.piece)
		}
	}
	return is
}

// offered says whether a global peer that the node asks has the piece.
func (s *State) offered(i int) bool {
	for _, p := range s.peers {
		if !p.local && p.matched && p.have.Has(i) {
			return true
		}
	}
	return false
}

// slowPiece is from how much remaining time on a piece may be given away that
// is on its way.
const slowPiece = 2 * time.Second

// slow lists the fetches over the WAN that will take long yet, by piece.
func (s *State) slow() []*fetch {
	var fs []*fetch
	for _, f := range s.fetches {
		if f.wan && s.remaining(f) > slowPiece {
			fs = append(fs, f)
		}
	}
	slices.SortFunc(fs, func(a, b *fetch) int { return a.piece - b.piece })
	return fs
}

// remaining estimates how long a fetch will take yet, by how long it took for
// what came.
func (s *State) remaining(f *fetch) time.Duration {
	age := s.now.Sub(f.started)
	return time.Duration(float64(age) * float64(f.missing) / float64(max(f.size-f.missing, cell)))
}

// putBack ends a fetch over the WAN that another member takes over.
func (s *State) putBack(f *fetch) {
	s.abandon(f)
	delete(s.fetches, f.piece)
	s.todo.Add(f.piece)
	s.tell(f.piece, tellDrop)
}

// reown takes pieces of the node's share back that nobody has, asked for, or
// says to own: members whose views of the mob differed may have lost them.
func (s *State) reown() {
	changed := false
	first, end := Share(s.pieces, s.rank, s.size)
	for i := first; i < end; i++ {
		if s.todo.Has(i) && s.free(i) && s.own.Add(i) {
			changed = true
		}
	}
	if changed {
		s.ownChanged()
	}
}

// given takes over what a local peer gave away.
func (s *State) given(p *peer, rs []proto.Range) {
	if s.stealing == p.ID {
		s.stealing = ""
	}
	if !p.local {
		return
	}
	if len(rs) == 0 {
		p.dry = true
		return
	}
	eachPiece(rs, s.pieces, func(i int) { s.own.Add(i) })
	s.ownChanged()
}
