package mob

import (
	"slices"

	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/session"
	"github.com/mobgrid/mob/proto"
)

// assign has a fetch request its next bytes of p. It claims the piece if it enters a group that the
// node is in, or if only one member of the cluster has it: that member should send each piece once.
func (s *State) assign(p *session.Peer, f *session.Fetch) {
	f.Peer, p.Current = p, f
	s.Stored.Touch(f.Piece)
	own := s.Own()
	switch {
	case p.Local && f.Level != nil, !p.Local && f.Enters(p.Level):
	case !p.Local:
		f.Level, f.Claimed, f.ClaimedAt = p.Level, true, s.Now
		s.announce(f.Piece, avail.Claim)
		if s.Crosses(p, f.Piece) && s.Work.Sender(f.Piece) == nil {
			s.AwaitClaims(p, f)
		}
	case s.Work.Sender(f.Piece) != nil:
	case own.Holders[f.Piece] == 1 && own.Claims[f.Piece] == 0 && s.HasChoice(p, f.Piece):
		s.claimLocally(f)
	}
}

// unassign leaves a fetch without a peer, for any that has the piece. If it must come from one peer alone, and some of it
// has arrived, it starts again: the caller discards what has come of it, and reports that it has [Failed].
func (s *State) unassign(f *session.Fetch) {
	switch {
	case !f.Alone || f.Missing == f.Size:
		f.Peer = nil
		if s.Fetches[f.Piece] == f && !slices.Contains(s.Unassigned, f) {
			s.Unassigned = append(s.Unassigned, f)
			s.Reconsider(f.Piece)
		}
	case !f.Discarded && s.Fetches[f.Piece] == f:
		f.Discarded = true
		s.cancelRequests(f, func(*session.Peer) bool { return true })
		f.Peer, f.Helper, f.Level = nil, nil, nil
		s.Stored.Touch(f.Piece)
		if f.Claimed {
			s.dropClaim(f)
		}
		s.do(Discard{Piece: f.Piece})
	}
}

// release takes a fetch from p, which will not send a span. If no peer is left, any may have it. A coded block is given up: no part of it
// has arrived, no other peer may have it, and another block may do as well.
func (s *State) release(p *session.Peer, f *session.Fetch, sp proto.Span) {
	f.Leave(p, sp)
	if f.Requested() || f.Peer != nil && f.Peer.Current == f { // a helper may be at another piece
		return
	}
	if s.Layout.Whole {
		s.giveUp(f.Piece)
		s.Wanted.Add(f.Piece)
		s.ReconsiderAll()
		return
	}
	s.unassign(f)
	if f.Claimed && f.Level == nil && s.Own().Holders[f.Piece] == 0 { // else members wait for each other's claims
		s.dropClaim(f)
	}
}

// releaseAll removes all requests to p.
func (s *State) releaseAll(p *session.Peer) {
	spans := p.Pipe.CancelAll()
	s.RefillSharing(p)
	for _, sp := range spans {
		s.release(p, s.Fetches[int(sp.Piece)], sp)
	}
	if f := p.Current; f != nil && f.Peer == p && !f.Requested() {
		s.unassign(f)
	}
	p.Current = nil
}

// leaveRemote stops fetching a piece from outside of the own cluster, because a nearer peer has it
// or will have it.
func (s *State) leaveRemote(f *session.Fetch) {
	s.cancelRequests(f, func(p *session.Peer) bool { return !p.Local })
	f.Level = nil
	s.Stored.Touch(f.Piece)
	if f.Helper != nil && !f.Helper.Local {
		f.Helper = nil
	}
	s.unassign(f)
}

// endFetch forgets a fetch, and cancels its requests.
func (s *State) endFetch(f *session.Fetch) {
	s.cancelRequests(f, func(*session.Peer) bool { return true })
	f.Peer, f.Helper = nil, nil
	s.Unassigned = slices.DeleteFunc(s.Unassigned, func(g *session.Fetch) bool { return g == f })
	delete(s.Fetches, f.Piece)
}

// giveUp ends the fetch of a piece, if there is one, and takes the claim back.
func (s *State) giveUp(i int) {
	f := s.Fetches[i]
	if f == nil {
		return
	}
	s.endFetch(f)
	s.Stored.Touch(i)
	if f.Claimed {
		s.announce(i, avail.Drop)
	}
}

// cancelRequests cancels the requests for a fetch of some peers.
func (s *State) cancelRequests(f *session.Fetch, of func(*session.Peer) bool) {
	for _, p := range s.Peers {
		if !of(p) {
			continue
		}
		for _, sp := range p.Pipe.CancelPiece(f.Piece) {
			s.RefillSharing(p)
			f.GiveBack(sp)
			s.send(p, &proto.Cancel{Span: sp})
		}
	}
}
