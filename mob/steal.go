package mob

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// A piece that no member of the cluster has claimed is for any member that has room on a link, so
// shares need no stealing. What is left to steal is what a member has claimed and is slow at.

const (
	// stealPause is how long a member that gave nothing is left alone.
	stealPause = 250 * time.Millisecond
	// stealTimeout is how long the node waits for an answer before it asks another member.
	stealTimeout = time.Second
	// slowPiece is from how much remaining time on a piece may be given away, if it has been on
	// its way for half as long, and less than half of it has arrived: that part crosses the WAN
	// twice. From stuckPiece on any may be.
	slowPiece  = 700 * time.Millisecond
	stuckPiece = time.Second
)

// steal asks the local peer with the most slow pieces for some of them, if the node could fetch
// over the WAN and finds nothing to request.
func (s *State) steal() {
	if s.complete || !s.mayFetchWAN() || !s.starves() {
		return
	}
	if q := s.joined[s.stealing]; q != nil && s.now.Sub(q.stealSent) < stealTimeout {
		return
	}
	var slowest *peer
	for _, p := range s.peers {
		if p.local && p.slow > 0 && s.now.Sub(p.stealSent) >= stealPause && (slowest == nil || p.slow > slowest.slow) {
			slowest = p
		}
	}
	if slowest == nil {
		return
	}
	slowest.stealSent = s.now
	s.stealing = slowest.ID
	s.send(slowest, &proto.Steal{Rate: uint64(s.rateWAN())})
}

// starves reports whether a remote peer has room, and every piece that the cluster lacks is
// claimed.
func (s *State) starves() bool {
	if s.behind || s.picker.Unclaimed() {
		return false
	}
	for _, p := range s.peers {
		if p.idle && !p.local && p.matched && !p.stalled && s.isActive(p) && p.room(s.t) {
			return true
		}
	}
	return false
}

// rateWAN returns the node's rate over the WAN, in bytes per second.
func (s *State) rateWAN() (sum float64) {
	for _, p := range s.peers {
		if !p.local && !p.stalled {
			sum += p.meter.rate()
		}
	}
	return sum
}

// onSteal gives away the pieces that the other member, at its rate, would have much sooner. Its
// drops reach that member before the answer.
func (s *State) onSteal(p *peer, rate uint64) {
	m := &proto.Give{}
	if p.local {
		for _, f := range s.slowFetches() {
			theirs := 2 * float64(f.size) / max(float64(rate), 1)
			if len(m.Pieces) < proto.MaxRanges && s.remaining(f).Seconds() > slowPiece.Seconds()+theirs {
				s.giveAway(f)
				m.Pieces = bitset.Append(m.Pieces, f.piece)
			}
		}
		s.flushPeer(p)
	}
	s.send(p, m)
}

// onGive notes the answer to a Steal. The pieces are free since their drops have come.
func (s *State) onGive(p *peer) {
	if s.stealing == p.ID {
		s.stealing = ""
	}
}

// slowFetches lists the fetches over the WAN that will take long yet, by piece.
func (s *State) slowFetches() []*fetch {
	var fs []*fetch
	for _, f := range s.fetches {
		if !f.wan || s.age(f) < s.leastAge(f) {
			continue
		}
		if rest := s.remaining(f); rest > stuckPiece || rest > slowPiece && 2*f.missing > f.size {
			fs = append(fs, f)
		}
	}
	slices.SortFunc(fs, func(a, b *fetch) int { return a.piece - b.piece })
	return fs
}

// leastAge returns how long a piece must have been on its way to be slow. An external peer answers
// in bursts, when it sees fit, so a pause says little.
func (s *State) leastAge(f *fetch) time.Duration {
	if f.peer != nil && f.peer.External {
		return s.t.Stall / 2
	}
	return slowPiece / 2
}

// announceSlow tells the own cluster how many pieces the node is slow at. While a piece is free
// nobody steals, and nobody needs to know.
func (s *State) announceSlow() {
	n := 0
	if !s.picker.Unclaimed() {
		n = len(s.slowFetches())
	}
	if n == s.slowCount {
		return
	}
	s.slowCount = n
	for _, p := range s.peers {
		if p.local {
			s.scheduleFlush(p, true)
		}
	}
}

// age returns how long a fetch has taken, without what its peer may take in any case.
func (s *State) age(f *fetch) time.Duration { return max(s.now.Sub(f.started)-s.grace(f), 0) }

// remaining estimates how long a fetch will take yet, by how long it took for what has arrived.
func (s *State) remaining(f *fetch) time.Duration {
	if s.layout.Whole && f.peer != nil { // no part of it arrives before the rest
		return time.Duration(f.peer.wait() * float64(time.Second))
	}
	return time.Duration(float64(s.age(f)) * float64(f.missing) / float64(max(f.size-f.missing, proto.Cell)))
}

// giveAway ends a fetch over the WAN that another member takes over. The node begins it again only
// if that member goes away.
func (s *State) giveAway(f *fetch) {
	for _, p := range s.peers {
		if !p.local && p.have.Has(f.piece) {
			s.deferPiece(p, f.piece, slowPiece)
		}
	}
	s.endFetch(f)
	s.touch(f.piece)
	s.wanted.Add(f.piece)
	s.reconsider(f.piece)
	s.announce(f.piece, updateDrop)
}
