package mob

import (
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
	for _, p := range s.peers {
		if p.local && p.left > 0 && !p.dry && s.now.Sub(p.askedSteal) >= stealPause && (victim == nil || p.left > victim.left) {
			victim = p
		}
	}
	if victim == nil {
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
		if p.matched && !p.local && p.heard && !p.stalled && p.room(s.t) {
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

// give answers a steal: each keeps a part by its rate, so that both finish at
// the same time (Robber takes half: the rates of equals).
func (s *State) give(p *peer, rate uint64) {
	m := &proto.Give{}
	defer func() { s.send(p, m) }()
	if !p.local {
		return
	}
	mine, theirs := s.rateWAN(), max(float64(rate), 1)
	part := theirs / (theirs + mine)
	var rare, common []int
	s.eachLeft(func(i int) bool {
		if s.rare(i) {
			rare = append(rare, i)
		} else if p.left == 0 {
			common = append(common, i)
		}
		return true
	})
	for _, is := range [][]int{rare, common} {
		for _, i := range is[len(is)-int(float64(len(is))*part):] {
			if len(m.Pieces) < proto.MaxRanges {
				m.Pieces = appendPiece(m.Pieces, i)
			}
		}
	}
	if len(m.Pieces) == 0 {
		return
	}
	eachPiece(m.Pieces, s.pieces, func(i int) { s.own.Remove(i) })
	s.ownChanged()
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
