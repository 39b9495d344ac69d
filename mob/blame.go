package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// A disk may rot under an honest peer, so a bad piece is no offence. The node reports it with a Bad.
// The peer checks its copy, and takes the piece back, or announces it again. What is held against a
// peer is a strike: it does not answer; it announces the piece again and sends it bad again, or the
// node knows by then that it was false; or its block shows by itself that it is. Too many ban it.
//
// What that may cost is bounded: no piece is begun with a peer that owes several answers, and a peer
// of which more pieces were bad than good is rationed. It is asked last: for one piece at a time, that
// no other peer has. To the cluster it counts as if it had nothing.

// record is what a node did. It outlasts a session: to join again clears nobody.
type record struct {
	good    int // pieces that came from it and were right
	rotten  int // pieces of it that were bad
	strikes int
	stalls  int // how often it left requests unanswered
	banned  bool
	deadAt  time.Time // when a session with it was last dropped for silence
	// bad has the pieces that were bad when they came from it, and asked those of them that it was
	// told of and has not answered for, with the time.
	bad   map[int]bool
	asked map[int]time.Time
	// alarms are its complaints about pieces that are sound.
	alarms bucket
	work   bucket // that its messages caused, see affords
}

const (
	// goodPerStrike is how many good pieces make up for a strike.
	goodPerStrike = 32
	// maxAlarms is how many complaints about sound pieces a peer may make at once, and alarmRate how
	// many per second over time. Each costs the node the hash of a piece.
	maxAlarms = 16
	alarmRate = 1.0 / 60
)

// blame holds the sources of a bad piece to account. Of several nobody knows which it was: the piece
// is fetched again from one peer alone, and then the caller can tell.
func (s *State) blame(ev Failed) {
	switch {
	case len(ev.Sources) > 1:
		s.suspects[ev.Piece] = true
	case len(ev.Sources) == 1:
		s.accuse(ev.Sources[0], ev.Piece, ev.Forged)
	}
}

// accuse notes that a node sent a bad piece. If the piece is forged, the block shows that the node is
// at fault; otherwise it is told.
func (s *State) accuse(id proto.PeerID, i int, forged bool) {
	n := s.byID[id]
	if n == nil {
		return
	}
	again := n.bad[i]
	n.rotten++
	if n.bad == nil {
		n.bad, n.asked = map[int]bool{}, map[int]time.Time{}
	}
	n.bad[i] = true
	if forged || again {
		n.strikes++
	}
	if !forged && !s.have.Has(i) {
		s.rotten[i] = true
	}
	p := n.peer
	switch {
	case p == nil:
		return
	case s.struckOut(n.record), n.External && n.rotten >= s.t.Strikes && n.rotten > n.good:
		// An external peer cannot take a piece back.
		s.ban(p, "too many bad pieces")
		return
	}
	s.removeHave(p, i)
	s.ration(p)
	if !forged {
		s.send(p, &proto.Bad{Piece: uint32(i)})
		if !n.External {
			n.asked[i] = s.now
		}
	}
}

// credit notes that a good piece came from a peer.
func (s *State) credit(p *peer) {
	p.good++
	s.ration(p)
}

// ration notes whether a peer is rationed.
func (s *State) ration(p *peer) {
	rationed := p.rotten >= p.good+s.t.Strikes
	if rationed == p.rationed {
		return
	}
	s.recount(p, func() { p.rationed = rationed })
	if rationed {
		s.cancelAll(p)
	}
	p.idle = false
	s.wake(p)
}

// answered notes that a peer takes back a piece of which the node complained, or announces it again.
// What it announces at once may have crossed the complaint, so the piece is left alone for a moment.
func (s *State) answered(p *peer, i int, again bool) {
	if _, ok := p.asked[i]; !ok {
		return
	}
	delete(p.asked, i)
	switch {
	case !again:
	case s.have.Has(i): // so it is known that what came was false
		s.strike(p)
	default:
		s.deferPiece(p, i, s.t.Stall)
	}
}

// strike strikes a peer. The next check of all peers bans it if there are too many: it may be in use.
func (s *State) strike(p *peer) {
	p.strikes++
	s.hasten()
}

// awaitAnswers strikes the peers that have left a complaint without an answer for too long.
func (s *State) awaitAnswers() {
	for k := len(s.peers) - 1; k >= 0; k-- {
		p := s.peers[k]
		if p.rationed {
			p.idle = false // another that had the same pieces may have gone
		}
		for i, at := range p.asked {
			if s.now.Sub(at) > s.t.Dead+s.late {
				delete(p.asked, i)
				p.strikes++
			}
		}
		if s.struckOut(p.record) {
			s.ban(p, "bad pieces that it does not take back")
		}
	}
}

// struckOut reports whether a node has too many strikes.
func (s *State) struckOut(r *record) bool { return r.strikes >= s.t.Strikes+r.good/goodPerStrike }

// mayBegin reports whether a piece may be begun with a peer.
func (s *State) mayBegin(p *peer) bool {
	return len(p.asked) < s.t.Strikes && !(p.rationed && p.pipe.Busy())
}

// held reports whether a peer that is not rationed, other than p, has a piece to be requested.
func (s *State) held(p *peer, i int) bool {
	for _, q := range s.peers {
		if q != p && q.matched && !q.stalled && q.have.Has(i) && !q.rationed {
			return true
		}
	}
	return false
}

// restart has a piece fetched again from the start. The caller discards what has come of it, and
// reports that it has [Failed].
func (s *State) restart(f *fetch) {
	if f.discarded || s.fetches[f.Piece] != f {
		return
	}
	f.discarded = true
	s.cancelRequests(f, func(*peer) bool { return true })
	f.peer, f.helper, f.level = nil, nil, nil
	s.touch(f.Piece)
	if f.claimed {
		s.dropClaim(f)
	}
	s.do(Discard{Piece: f.Piece})
}

// onLiar bans a node that signed false blocks. They may have come from others.
func (s *State) onLiar(id proto.PeerID) {
	if p := s.joined[id]; p != nil {
		s.ban(p, "it signed false blocks")
	} else if n := s.byID[id]; n != nil {
		n.banned = true
	}
}

// onChecked announces a piece again to a peer that complained of it, or for which it could not be
// read.
func (s *State) onChecked(ev Checked) {
	p := s.joined[ev.Peer]
	if p == nil {
		return
	}
	if ev.Alarm && !p.alarms.take(s.now, 1, maxAlarms, alarmRate) {
		s.ban(p, "too many complaints about sound pieces")
		return
	}
	if s.offers(ev.Piece) {
		p.pending.Have = bitset.Append(p.pending.Have, ev.Piece)
		s.scheduleFlush(p, true)
	}
}

func (s *State) ban(p *peer, why string) { s.drop(p, proto.CodeBanned, why) }
