package mob

import (
	"github.com/mobgrid/mob/mob/session"
	"github.com/mobgrid/mob/proto"
)

// recordBad records that a node sent a bad piece. Unless the piece is forged, the node is sent a report.
func (s *State) recordBad(id proto.PeerID, i int, forged bool) {
	n, p := s.roster.Node(id), s.Joined[id]
	if n == nil {
		return
	}
	n.Record.AddBad(i, forged)
	if !forged && !s.Stored.Have.Has(i) {
		s.book.FailedAlone(i)
	}
	switch {
	case p == nil:
		return
	case n.Record.StruckOut(&s.Tuning.Rules), n.External && n.Record.MostlyBad(&s.Tuning.Rules): // an external peer cannot withdraw a piece
		s.drop(p, proto.CodeBanned, "too many bad pieces")
		return
	}
	s.removeHave(p, i)
	s.ration(p)
	if !forged {
		s.send(p, &proto.Bad{Piece: uint32(i)})
		if !n.External {
			n.Record.Reported(s.Now, i)
		}
	}
}

// ration starts or ends the rationing of a peer.
func (s *State) ration(p *session.Peer) {
	rationed := p.ToRation()
	if rationed == p.Rationed {
		return
	}
	s.recount(p, func() { p.Rationed = rationed })
	if rationed {
		s.cancelAll(p)
	}
	p.Idle = false
	s.Refill(p)
}

// answered records that a peer withdraws a piece that the node reported, or announces it again. What it
// announces may have crossed the report, so the piece is not requested for a moment.
func (s *State) answered(p *session.Peer, i int, again bool) {
	switch {
	case !p.Answered(i) || !again:
	case s.Stored.Have.Has(i): // so the piece was bad
		p.Strike()
		s.CheckSoon()
	default:
		s.Defer(p, i, s.Tuning.Stall)
	}
}

// judge bans the peers with too many strikes. A report that is not answered in time is one.
func (s *State) judge() {
	for k := len(s.Peers) - 1; k >= 0; k-- {
		p := s.Peers[k]
		if p.Rationed {
			p.Idle = false // another that had the same pieces may have left
		}
		p.StrikeUnanswered(s.Now, s.Tuning.Dead+s.book.Late)
		if p.StruckOut(&s.Tuning.Rules) {
			s.drop(p, proto.CodeBanned, "bad pieces that it does not withdraw")
		}
	}
}

// onLiar bans a node that signed corrupt blocks, which other peers may have sent.
func (s *State) onLiar(id proto.PeerID) {
	if p := s.Joined[id]; p != nil {
		s.drop(p, proto.CodeBanned, "signed corrupt blocks")
	} else if n := s.roster.Node(id); n != nil {
		n.Record.Banned = true
	}
}

// onChecked announces a piece again to a peer that reported it, or for which it could not be read.
func (s *State) onChecked(ev Checked) {
	p := s.Joined[ev.Peer]
	if p == nil {
		return
	}
	if ev.Alarm && !p.AllowsAlarm(s.Now) {
		s.drop(p, proto.CodeBanned, "too many reports of valid pieces")
		return
	}
	if s.Stored.Offers(ev.Piece) {
		s.batches.Repeat(&p.Box, ev.Piece)
	}
}
