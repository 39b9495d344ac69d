package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/conduct"
	"github.com/mobgrid/mob/mob/flow"
	"github.com/mobgrid/mob/mob/session"
	"github.com/mobgrid/mob/proto"
)

// farBehind is the number of pieces that a node needs and other members have before it leaves the WAN
// to these. They would wait for the pieces of a slow node.
const farBehind = 32

// maxAnswer bounds the time of an answer: one from a suspended machine does not count.
const maxAnswer = time.Minute

// health checks the peers: round trips, stalls, silence. It also does what can wait: stealing, end
// game, gossip.
func (s *State) health() {
	for k := len(s.Peers) - 1; k >= 0; k-- {
		if k < len(s.Peers) {
			s.check(s.Peers[k])
		}
	}
	s.batches.Pace = s.Pace()
	s.judge()
	if len(s.Fetches) > 0 {
		s.fetched = s.Now
	}
	for _, p := range s.Peers {
		if p.Idle && !p.Local && s.Work.Planned() && s.Now.Sub(s.fetched) > 2*s.Tuning.Stall && s.MayStartAny(p) {
			p.Idle = false // the node no longer leaves all pieces to hosts of the plan
		}
		s.Refill(p) // a pause may be over
	}
	s.Work.CheckLate(s.Now, s.HoldsUp)
	s.lapseClaims()
	if s.roster.TakeShareChanged() { // members often come and leave together, so this can wait
		for _, p := range s.Peers {
			if p.Interest == session.ShareInterest {
				s.sendWant(p)
			}
		}
	}
	s.UpdateSeeds()
	s.checkBehind()
	s.announceSlow()
	s.steal()
	s.endgame()
	if s.roster.Gossips() {
		s.introduce(s.Peers[s.Rand.IntN(len(s.Peers))], gossiped)
	}
}

// checkBehind checks whether the node is far behind its groups.
func (s *State) checkBehind() {
	for _, l := range s.Levels {
		was := l.Behind
		l.Behind = s.picker.Lag(l) > max(farBehind, s.Layout.Current/16) || s.IsOverridden()
		if was && !l.Behind {
			s.ReconsiderAll()
		}
	}
}

// check drops, stalls or pings a peer.
func (s *State) check(p *session.Peer) {
	slack := p.AnswerLimit() + s.book.Late
	switch v := p.Verdict(s.Now, slack, !s.Complete, p.Pipe.Owed()); {
	case v == conduct.FellSilent:
		s.setSilent(p, true)
	case v == conduct.Dead || s.roster.Unanswered(p.Node, p.JoinedAt, s.Tuning.Dead+slack):
		p.DeadAt = s.Now
		s.drop(p, proto.CodeLeaving, "silent for too long")
	case v == conduct.Stalled:
		s.cancelAll(p) // so other peers send the pieces
		s.book.Stalls++
		p.Pipe.Probing = true
		s.recount(p, func() { p.Stall(s.Now) })
	case s.Now.Sub(p.PingSent) >= s.PingPause(p, s.batches.Pace):
		s.sendPing(p)
	}
}

// setSilent records that a peer of the site fell silent, or is not any more. While it is, its share and its
// claims are for other members.
func (s *State) setSilent(p *session.Peer, silent bool) {
	s.recount(p, func() { p.Silent = silent })
	if silent {
		p.Slow = 0
	}
	s.roster.SetSilent(p.Node, silent)
	s.applyChanges()
}

// cancelAll cancels everything that was requested of a peer.
func (s *State) cancelAll(p *session.Peer) {
	for _, sp := range p.Pipe.Requested() {
		s.send(p, &proto.Cancel{Span: sp})
	}
	s.releaseAll(p)
}

func (s *State) sendPing(p *session.Peer) {
	p.PingSent = s.Now
	s.send(p, &proto.Ping{Nonce: flow.PingNonce(s.started, s.Now)})
}

// onPing answers a ping. Across a link it also sends one, so that both directions are measured at the
// same time.
func (s *State) onPing(p *session.Peer, nonce uint64) {
	s.send(p, &proto.Pong{Nonce: nonce})
	if !p.AcrossLink() {
		return
	}
	p.Pipe.Pinged(s.Now, flow.SincePing(s.started, s.Now, nonce))
	p.Link.AdjustActive(p.Pipe.Queue, p.Link.LeastActive(), func() bool {
		return p.Matched && !p.IsActive() && s.roster.MayFetch(p.Level.Group) && !p.Level.Behind && s.pick(p) >= 0
	})
	s.updateInterest(p.Link)
	if p.Measures() && s.Now.Sub(p.PingSent) >= s.PingPause(p, s.batches.Pace)/2 {
		s.sendPing(p)
	}
}

func (s *State) onPong(p *session.Peer, nonce uint64) {
	d := flow.SincePing(s.started, s.Now, nonce)
	if d <= 0 || d > maxAnswer {
		return
	}
	s.roster.Answered(p.Node, d)
	p.Pipe.Answered(d)
	p.Pings.Add(d)
	for _, l := range s.Groups(p) {
		s.MeasureAnswers(l)
	}
	s.Refill(p)
}
