package mob

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/flow"
	"github.com/mobgrid/mob/proto"
)

// fetch is a piece in progress.
type fetch struct {
	flow.Progress
	level   *level // the outermost group that it enters; nil if it comes from the own cluster
	claimed bool   // announced that it enters that, or comes from the only member that has it
	peer    *peer  // the next request goes to it; nil if there is none at the moment
	helper  *peer  // bytes are requested of it a second time, in the end game
	// alone says that the piece comes from one peer or not at all: it was bad when it came from
	// several. discarded says that it lost that peer, see unassign.
	alone, discarded bool
	started          time.Time
	claimedAt        time.Time // when it was last claimed
	// It was claimed ahead for the peer waitsAt, and is requested from the time notBefore on: see
	// awaitClaims.
	waitsAt   *peer
	notBefore time.Time
}

// isPlanned reports whether a piece comes from its parent in the plan.
func (f *fetch) isPlanned(work *assign.Assignment) bool {
	return f.peer != nil && work.Sends(f.peer.member, f.Piece)
}

// grace returns the time in which a peer need not have sent anything: an external peer looks at its
// requests on a timer, and a node may be slower than a queue explains.
func (f *fetch) grace() time.Duration {
	switch p := f.peer; {
	case p == nil:
		return 0
	case p.External:
		return time.Duration(p.pipe.Wait() * float64(time.Second))
	default:
		return max(p.answerLimit()-2*p.pipe.Limits.Queue, 0)
	}
}

// age returns the time that a fetch has taken, without the time that any takes.
func (f *fetch) age(now time.Time) time.Duration { return max(now.Sub(f.started)-f.grace(), 0) }

// remaining estimates how long a fetch will take yet, by how long it took for what has arrived.
func (f *fetch) remaining(now time.Time) time.Duration {
	if f.peer != nil && f.peer.pipe.Size > 0 { // no part of it arrives before the rest
		return time.Duration(f.peer.pipe.Wait() * float64(time.Second))
	}
	return time.Duration(float64(f.age(now)) * float64(f.Missing) / float64(max(f.Size-f.Missing, proto.Cell)))
}

// startFetch starts a piece with a peer.
func (s *State) startFetch(p *peer, i int) *fetch {
	f := &fetch{Progress: flow.NewProgress(i, s.layout.size(i)), started: s.now, alone: s.book.Suspect(i)}
	s.wanted.Remove(i)
	s.fetches[i] = f
	s.assign(p, f)
	return f
}

// assign has a fetch request its next bytes of p. It claims the piece if it enters a group that the
// node is in, or if only one member of the cluster has it: that member should send each piece once.
func (s *State) assign(p *peer, f *fetch) {
	f.peer, p.current = p, f
	s.stored.Touch(f.Piece)
	own := s.own()
	switch {
	case p.local && f.level != nil, !p.local && f.enters(p.level):
	case !p.local:
		f.level, f.claimed, f.claimedAt = p.level, true, s.now
		s.announce(f.Piece, avail.Claim)
		if s.crosses(p, f.Piece) && s.work.Sender(f.Piece) == nil {
			s.awaitClaims(p, f)
		}
	case s.work.Sender(f.Piece) != nil:
	case own.Holders[f.Piece] == 1 && own.Claims[f.Piece] == 0 && s.hasChoice(p, f.Piece):
		s.claimLocally(f)
	}
}

// hasChoice reports whether a local peer has enough pieces that no other member has, from one piece
// on, for each member to start another one. With fewer, all start the same, and each would claim every
// piece to every other member.
func (s *table) hasChoice(p *peer, from int) bool {
	alone, seen, own := 1, 0, s.own()
	for i := range s.wanted.Intersection(p.Have, from) {
		if own.Holders[i] == 1 {
			alone++
		}
		if seen++; alone >= own.Size || seen >= maxCandidates {
			break
		}
	}
	return alone >= own.Size
}

// unassign leaves a fetch without a peer, for any that has the piece. If it must come from one peer alone, and some of it
// has arrived, it starts again: the caller discards what has come of it, and reports that it has [Failed].
func (s *State) unassign(f *fetch) {
	switch {
	case !f.alone || f.Missing == f.Size:
		f.peer = nil
		if s.fetches[f.Piece] == f && !slices.Contains(s.unassigned, f) {
			s.unassigned = append(s.unassigned, f)
			s.reconsider(f.Piece)
		}
	case !f.discarded && s.fetches[f.Piece] == f:
		f.discarded = true
		s.cancelRequests(f, func(*peer) bool { return true })
		f.peer, f.helper, f.level = nil, nil, nil
		s.stored.Touch(f.Piece)
		if f.claimed {
			s.dropClaim(f)
		}
		s.do(Discard{Piece: f.Piece})
	}
}

// release records that p will not send a span, unless it is requested of a second peer too, and takes
// the fetch from p.
func (s *State) release(p *peer, f *fetch, sp proto.Span) {
	other := f.peer
	if other == p {
		other = f.helper
	}
	if f.helper == p {
		f.helper = nil
	}
	if other == nil || !other.pipe.Has(sp) {
		f.GiveBack(sp)
	}
	if f.peer == p {
		f.peer, f.helper = f.helper, nil
	}
	if f.Requested() || f.peer != nil && f.peer.current == f { // a helper may be at another piece
		return
	}
	s.unassign(f)
	if f.claimed && f.level == nil && s.own().Holders[f.Piece] == 0 { // else members wait for each other's claims
		s.dropClaim(f)
	}
}

// releaseAll removes all requests to p.
func (s *State) releaseAll(p *peer) {
	spans := p.pipe.CancelAll()
	s.wakeSharing(p)
	for _, sp := range spans {
		s.release(p, s.fetches[int(sp.Piece)], sp)
	}
	if f := p.current; f != nil && f.peer == p && !f.Requested() {
		s.unassign(f)
	}
	p.current = nil
}

// leaveRemote stops fetching a piece from outside of the own cluster, because a nearer peer has it
// or will have it.
func (s *State) leaveRemote(f *fetch) {
	s.cancelRequests(f, func(p *peer) bool { return !p.local })
	f.level = nil
	s.stored.Touch(f.Piece)
	if f.helper != nil && !f.helper.local {
		f.helper = nil
	}
	s.unassign(f)
}

// endFetch forgets a fetch, and cancels its requests.
func (s *State) endFetch(f *fetch) {
	s.cancelRequests(f, func(*peer) bool { return true })
	f.peer, f.helper = nil, nil
	s.unassigned = slices.DeleteFunc(s.unassigned, func(g *fetch) bool { return g == f })
	delete(s.fetches, f.Piece)
}

// giveUp ends the fetch of a piece, if there is one, and takes the claim back.
func (s *State) giveUp(i int) {
	f := s.fetches[i]
	if f == nil {
		return
	}
	s.endFetch(f)
	s.stored.Touch(i)
	if f.claimed {
		s.announce(i, avail.Drop)
	}
}

// cancelRequests cancels the requests for a fetch of some peers.
func (s *State) cancelRequests(f *fetch, of func(*peer) bool) {
	for _, p := range s.peers {
		if !of(p) {
			continue
		}
		for _, sp := range p.pipe.CancelPiece(f.Piece) {
			s.wakeSharing(p)
			f.GiveBack(sp)
			s.send(p, &proto.Cancel{Span: sp})
		}
	}
}
