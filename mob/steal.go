package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/mob/session"
	"github.com/mobgrid/mob/proto"
)

// Any member with room on a link may start an unclaimed piece, so shares need no stealing. A member steals pieces that another
// one has claimed and is slow at.

const (
	// stealPause is the time until a member that gave nothing is asked again.
	stealPause = 250 * time.Millisecond
	// stealTimeout is the time until the node asks another member.
	stealTimeout = time.Second
)

// steal asks the peer with the most slow pieces for some of them, if the node could fetch for a
// group that both are in and finds nothing to request.
func (s *State) steal() {
	l := s.starving()
	if l == nil {
		return
	}
	if q := s.Joined[s.stealing]; q != nil && s.Now.Sub(q.StealSent) < stealTimeout {
		return
	}
	slowest := s.Slowest(l, stealPause)
	if slowest == nil {
		return
	}
	slowest.StealSent = s.Now
	s.stealing = slowest.ID
	s.send(slowest, &proto.Steal{Rate: uint64(s.Rate(l))})
}

// starving returns the outermost group that the node finds no request for, although a remote peer has
// room, since every missing piece is claimed. It is nil if there is none.
func (s *State) starving() *session.Level {
	if s.Complete {
		return nil
	}
	for _, l := range s.Levels {
		if !s.roster.MayFetch(l.Group) || l.Behind || s.picker.Unclaimed(l) {
			continue
		}
		for _, p := range s.Peers {
			if p.Level == l && p.Idle && p.Matched && !p.Stalled && p.IsActive() && p.Pipe.Room() {
				return l
			}
		}
	}
	return nil
}

// onSteal gives away the pieces that the other member, at its rate, would have much sooner. Its
// drops reach that member before the answer.
func (s *State) onSteal(p *session.Peer, rate uint64) {
	m := &proto.Give{}
	if home := p.Home; home != nil {
		for _, f := range s.Slow(home) {
			theirs := 2 * float64(f.Size) / max(float64(rate), 1)
			if len(m.Pieces) < proto.MaxRanges && f.Remaining(s.Now).Seconds() > session.SlowPiece.Seconds()+theirs {
				s.giveAway(f)
				m.Pieces = bitset.Append(m.Pieces, f.Piece)
			}
		}
		s.flushPeer(p)
	}
	s.send(p, m)
}

// announceSlow announces to the peers of each group the number of slow pieces that enter it. While a
// piece is free no member steals.
func (s *State) announceSlow() {
	for _, l := range s.Levels {
		n := len(s.Slow(l))
		if n > 0 && s.picker.Unclaimed(l) {
			n = 0
		}
		if n == l.Slow {
			continue
		}
		l.Slow = n
		for _, p := range s.Peers {
			if p.Home == l {
				s.batches.Schedule(&p.Box, true)
			}
		}
	}
}

// giveAway ends a fetch from outside of a group that another member takes over. The node starts it
// again only if that member leaves.
func (s *State) giveAway(f *session.Fetch) {
	for _, p := range s.Peers {
		if !p.Local && p.Have.Has(f.Piece) {
			s.Defer(p, f.Piece, session.SlowPiece)
		}
	}
	s.giveUp(f.Piece)
	s.Wanted.Add(f.Piece)
	s.Reconsider(f.Piece)
}
