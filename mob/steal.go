package mob

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// Any member with room on a link may start an unclaimed piece, so shares need no stealing. A member steals pieces that another
// one has claimed and is slow at.

const (
	// stealPause is the time until a member that gave nothing is asked again.
	stealPause = 250 * time.Millisecond
	// stealTimeout is the time until the node asks another member.
	stealTimeout = time.Second
	// A piece may be given away if its remaining time is at least slowPiece, it has taken half of that, and
	// less than half of it has arrived: that part crosses the WAN twice. From stuckPiece on any may be.
	slowPiece  = 700 * time.Millisecond
	stuckPiece = time.Second
)

// steal asks the peer with the most slow pieces for some of them, if the node could fetch for a
// group that both are in and finds nothing to request.
func (s *State) steal() {
	l := s.starving()
	if l == nil {
		return
	}
	if q := s.joined[s.stealing]; q != nil && s.now.Sub(q.stealSent) < stealTimeout {
		return
	}
	var slowest *peer
	for _, p := range s.peers {
		if p.shared > l.Index && p.Slow > 0 && s.now.Sub(p.stealSent) >= stealPause && (slowest == nil || p.Slow > slowest.Slow) {
			slowest = p
		}
	}
	if slowest == nil {
		return
	}
	slowest.stealSent = s.now
	s.stealing = slowest.ID
	rate := 0.0 // into the group
	for _, p := range s.peers {
		if p.level == l && !p.Stalled {
			rate += p.pipe.Rate()
		}
	}
	s.send(slowest, &proto.Steal{Rate: uint64(rate)})
}

// starving returns the outermost group that the node finds no request for, although a remote peer has
// room, since every missing piece is claimed. It is nil if there is none.
func (s *State) starving() *level {
	if s.complete {
		return nil
	}
	for _, l := range s.levels {
		if !s.roster.MayFetch(l.Group) || l.behind || s.picker.Unclaimed(View{s, l}) {
			continue
		}
		for _, p := range s.peers {
			if p.level == l && p.idle && p.matched && !p.Stalled && p.isActive() && p.pipe.Room() {
				return l
			}
		}
	}
	return nil
}

// onSteal gives away the pieces that the other member, at its rate, would have much sooner. Its
// drops reach that member before the answer.
func (s *State) onSteal(p *peer, rate uint64) {
	m := &proto.Give{}
	if home := p.home; home != nil {
		for _, f := range s.slowFetches(home) {
			theirs := 2 * float64(f.Size) / max(float64(rate), 1)
			if len(m.Pieces) < proto.MaxRanges && f.remaining(s.now).Seconds() > slowPiece.Seconds()+theirs {
				s.giveAway(f)
				m.Pieces = bitset.Append(m.Pieces, f.Piece)
			}
		}
		s.flushPeer(p)
	}
	s.send(p, m)
}

// slowFetches lists the fetches from outside of a group that will take long yet, by piece.
func (s *table) slowFetches(l *level) []*fetch {
	var fs []*fetch
	for _, f := range s.fetches {
		least := slowPiece / 2
		if f.peer != nil && f.peer.External { // it answers in bursts, so a pause says little
			least = s.t.Stall / 2
		}
		if !f.enters(l) || f.age(s.now) < least || f.isPlanned(s.work) {
			continue
		}
		if rest := f.remaining(s.now); rest > stuckPiece || rest > slowPiece && 2*f.Missing > f.Size {
			fs = append(fs, f)
		}
	}
	slices.SortFunc(fs, func(a, b *fetch) int { return a.Piece - b.Piece })
	return fs
}

// announceSlow announces to the peers of each group the number of slow pieces that enter it. While a
// piece is free no member steals.
func (s *State) announceSlow() {
	for _, l := range s.levels {
		n := len(s.slowFetches(l))
		if n > 0 && s.picker.Unclaimed(View{s, l}) {
			n = 0
		}
		if n == l.Slow {
			continue
		}
		l.Slow = n
		for _, p := range s.peers {
			if p.home == l {
				s.batches.Schedule(&p.box, true, len(s.peers))
			}
		}
	}
}

// giveAway ends a fetch from outside of a group that another member takes over. The node starts it
// again only if that member leaves.
func (s *State) giveAway(f *fetch) {
	for _, p := range s.peers {
		if !p.local && p.Have.Has(f.Piece) {
			s.deferPiece(p, f.Piece, slowPiece)
		}
	}
	s.giveUp(f.Piece)
	s.wanted.Add(f.Piece)
	s.reconsider(f.Piece)
}
