package mob

import "github.com/mobgrid/mob/proto"

// recordBad records that a node sent a bad piece. Unless the piece is forged, the node is sent a report.
func (s *State) recordBad(id proto.PeerID, i int, forged bool) {
	n, p := s.roster.Node(id), s.joined[id]
	if n == nil {
		return
	}
	n.Record.AddBad(i, forged)
	if !forged && !s.stored.Have.Has(i) {
		s.book.FailedAlone(i)
	}
	switch {
	case p == nil:
		return
	case n.Record.StruckOut(&s.t.Rules), n.External && n.Record.MostlyBad(&s.t.Rules): // an external peer cannot withdraw a piece
		s.drop(p, proto.CodeBanned, "too many bad pieces")
		return
	}
	s.removeHave(p, i)
	s.ration(p)
	if !forged {
		s.send(p, &proto.Bad{Piece: uint32(i)})
		if !n.External {
			n.Record.Reported(s.now, i)
		}
	}
}

// ration starts or ends the rationing of a peer.
func (s *State) ration(p *peer) {
	rationed := p.ToRation()
	if rationed == p.Rationed {
		return
	}
	s.recount(p, func() { p.Rationed = rationed })
	if rationed {
		s.cancelAll(p)
	}
	p.idle = false
	s.wake(p)
}

// answered records that a peer withdraws a piece that the node reported, or announces it again. What it
// announces may have crossed the report, so the piece is not requested for a moment.
func (s *State) answered(p *peer, i int, again bool) {
	switch {
	case !p.Answered(i) || !again:
	case s.stored.Have.Has(i): // so the piece was bad
		p.Strike()
		s.checkSoon()
	default:
		s.deferPiece(p, i, s.t.Stall)
	}
}

// judge bans the peers with too many strikes. A report that is not answered in time is one.
func (s *State) judge() {
	for k := len(s.peers) - 1; k >= 0; k-- {
		p := s.peers[k]
		if p.Rationed {
			p.idle = false // another that had the same pieces may have left
		}
		p.StrikeUnanswered(s.now, s.t.Dead+s.book.Late)
		if p.StruckOut(&s.t.Rules) {
			s.drop(p, proto.CodeBanned, "bad pieces that it does not withdraw")
		}
	}
}

// onLiar bans a node that signed corrupt blocks, which other peers may have sent.
func (s *State) onLiar(id proto.PeerID) {
	if p := s.joined[id]; p != nil {
		s.drop(p, proto.CodeBanned, "signed corrupt blocks")
	} else if n := s.roster.Node(id); n != nil {
		n.Record.Banned = true
	}
}

// onChecked announces a piece again to a peer that reported it, or for which it could not be read.
func (s *State) onChecked(ev Checked) {
	p := s.joined[ev.Peer]
	if p == nil {
		return
	}
	if ev.Alarm && !p.AllowsAlarm(s.now) {
		s.drop(p, proto.CodeBanned, "too many reports of valid pieces")
		return
	}
	if s.stored.Offers(ev.Piece) {
		s.batches.Repeat(&p.box, ev.Piece, len(s.peers))
	}
}
