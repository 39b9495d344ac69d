package mob

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// What nobody of the mob has asked for is anybody's who has room for it on a
// link, so shares need no stealing. What is left to steal is what a member has
// asked for and is slow at.

// stealPause is how long a member that gave nothing is left alone.
const stealPause = 250 * time.Millisecond

// steal asks the local peer with the most slow pieces for some of them, when the
// node could fetch over the WAN and finds nothing to ask for.
func (s *State) steal() {
	if s.complete || !s.mayFetchWAN() || !s.starved() {
		return
	}
	if q := s.joined[s.stealing]; q != nil && s.now.Sub(q.stealSent) < time.Second {
		return
	}
	var victim *peer
	for _, p := range s.peers {
		if p.local && p.slow > 0 && s.now.Sub(p.stealSent) >= stealPause && (victim == nil || p.slow > victim.slow) {
			victim = p
		}
	}
	if victim == nil {
		return
	}
	victim.stealSent = s.now
	s.stealing = victim.ID
	s.send(victim, &proto.Steal{Rate: uint64(s.rateWAN())})
}

// starved says whether a global peer has room, and every piece that the cluster
// lacks is claimed.
func (s *State) starved() bool {
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

// give answers a steal with the pieces that the thief, at its rate, would have
// much sooner. The node gives them away, so that nobody guesses; its news that it
// has dropped them reach the thief first.
func (s *State) onSteal(p *peer, rate uint64) {
	m := &proto.Give{}
	if p.local {
		for _, f := range s.slowFetches() {
			if len(m.Pieces) < proto.MaxRanges && s.remaining(f).Seconds() > slowPiece.Seconds()+2*float64(f.size)/max(float64(rate), 1) {
				s.giveAway(f)
				m.Pieces = bitset.Append(m.Pieces, f.piece)
			}
		}
		s.flushPeer(p)
	}
	s.send(p, m)
}

// given notes the answer to a steal. The pieces need no more than the news that
// their owner dropped them.
func (s *State) onGive(p *peer) {
	if s.stealing == p.ID {
		s.stealing = ""
	}
}

// slowPiece is from how much remaining time on a piece may be given away that
// has been on its way for half as long, and of which less than half has come: that
// part crosses the WAN twice. From stuckPiece on any may be.
const (
	slowPiece  = 700 * time.Millisecond
	stuckPiece = time.Second
)

// slow lists the fetches over the WAN that will take long yet, by piece.
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

// leastAge is how long a piece must have been on its way to be given away. A guest
// answers in bursts, by a clock of its own: a pause says little.
func (s *State) leastAge(f *fetch) time.Duration {
	if f.peer != nil && f.peer.Guest {
		return s.t.Stall / 2
	}
	return slowPiece / 2
}

// announceSlow tells the own cluster how many pieces the node is slow at. While a
// piece is free nobody steals, and nobody needs to know.
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

// age is how long a fetch has taken, without what its worker may take in any case.
func (s *State) age(f *fetch) time.Duration { return max(s.now.Sub(f.started)-f.grace(), 0) }

// remaining estimates how long a fetch will take yet, by how long it took for
// what came.
func (s *State) remaining(f *fetch) time.Duration {
	if s.layout.Whole && f.peer != nil {
		return time.Duration(f.peer.wait() * float64(time.Second)) // nothing comes of it before all does
	}
	return time.Duration(float64(s.age(f)) * float64(f.missing) / float64(max(f.size-f.missing, proto.Cell)))
}

// giveAway ends a fetch over the WAN that another member takes over, unless that
// one goes away.
func (s *State) giveAway(f *fetch) {
	for _, p := range s.peers {
		if !p.local && p.have.Has(f.piece) {
			s.deferNumber(p, f.piece, slowPiece)
		}
	}
	s.cancelFetch(f)
	delete(s.fetches, f.piece)
	s.touch(f.piece)
	s.wanted.Add(f.piece)
	s.reconsider(f.piece)
	s.announce(f.piece, updateDrop)
}
