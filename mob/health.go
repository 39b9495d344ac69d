package mob

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/conduct"
	"github.com/mobgrid/mob/mob/flow"
	"github.com/mobgrid/mob/mob/timer"
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
	for k := len(s.peers) - 1; k >= 0; k-- {
		if k < len(s.peers) {
			s.check(s.peers[k])
		}
	}
	s.batches.Pace = s.pace()
	s.judge()
	for _, p := range s.peers {
		s.wake(p) // a pause may be over
	}
	s.work.CheckLate(s.now, s.holdsUp)
	s.lapseClaims()
	if s.roster.TakeShareChanged() { // members often come and leave together, so this can wait
		for _, p := range s.peers {
			if p.interest == shareInterest {
				s.sendWant(p)
			}
		}
	}
	s.updateSeeds()
	s.checkBehind()
	s.announceSlow()
	s.steal()
	s.endgame()
	if s.roster.Gossips() {
		s.introduce(s.peers[s.rng.IntN(len(s.peers))], gossiped)
	}
}

// checkBehind checks whether the node is far behind its groups.
func (s *State) checkBehind() {
	for _, l := range s.levels {
		was := l.behind
		l.behind = s.picker.Lag(View{s, l}) > max(farBehind, s.layout.Current/16) || s.isOverridden()
		if was && !l.behind {
			s.reconsiderAll()
		}
	}
}

// healthInterval returns how long the node may leave its peers alone. When it is complete, and no
// peer is subscribed to anything, it only needs to know that they are alive.
func (s *table) healthInterval() time.Duration {
	if s.complete && !slices.ContainsFunc(s.peers, func(p *peer) bool { return p.box.Subscribed.Len() > 0 }) {
		return s.t.Dead / 10
	}
	return s.t.Queue / 2
}

// checkSoon shortens a long health interval.
func (s *table) checkSoon() {
	s.due.Sooner(timer.Health, s.now.Add(s.t.Queue/2))
}

// check drops, stalls or pings a peer.
func (s *State) check(p *peer) {
	pause := s.t.Dead / 3 // between pings
	switch {
	case p.measures():
		pause = max(s.t.Queue, s.batches.Pace)
	case p.acrossLink() && p.box.Subscribed.Len() > 0:
		pause = min(pause, 3*s.t.Queue)
	case p.pipe.Busy() || p.near() && !s.complete && s.now.Sub(p.LastSeen) > s.t.Stall/2:
		pause = min(pause, s.t.Stall/2)
	}
	pause = max(pause, p.pipe.RTT, 2*s.site().ClaimDelay())
	slack := p.answerLimit() + s.book.Late
	owed := 0.0
	switch {
	case p.pipe.Busy() && p.pipe.Rate() > 0:
		owed = p.pipe.Wait()
	case p.pipe.Busy():
		owed = -1
	}
	switch v := p.Verdict(s.now, slack, !s.complete, owed); {
	case v == conduct.FellSilent:
		s.setSilent(p, true)
	case v == conduct.Dead || s.roster.Unanswered(p.node, p.joinedAt, s.t.Dead+slack):
		p.DeadAt = s.now
		s.drop(p, proto.CodeLeaving, "silent for too long")
	case v == conduct.Stalled:
		s.cancelAll(p) // so other peers send the pieces
		s.book.Stalls++
		p.pipe.Probing = true
		s.recount(p, func() { p.Stall(s.now) })
	case s.now.Sub(p.pingSent) >= pause:
		s.sendPing(p)
	}
}

// cancelAll cancels everything that was requested of a peer.
func (s *State) cancelAll(p *peer) {
	for _, sp := range p.pipe.Requested() {
		s.send(p, &proto.Cancel{Span: sp})
	}
	s.releaseAll(p)
}

func (s *State) sendPing(p *peer) {
	p.pingSent = s.now
	s.send(p, &proto.Ping{Nonce: flow.PingNonce(s.started, s.now)})
}

// onPing answers a ping. Across a link it also sends one, so that both directions are measured at the
// same time.
func (s *State) onPing(p *peer, nonce uint64) {
	s.send(p, &proto.Pong{Nonce: nonce})
	if !p.acrossLink() {
		return
	}
	p.pipe.Pinged(s.now, flow.SincePing(s.started, s.now, nonce))
	p.link.AdjustActive(p.pipe.Queue, p.link.leastActive(), func() bool {
		return p.matched && !p.isActive() && s.roster.MayFetch(p.level.Group) && !p.level.behind && s.pick(p) >= 0
	})
	s.updateInterest(p.link)
	if p.measures() && s.now.Sub(p.pingSent) >= max(s.t.Queue/2, s.batches.Pace/2, 2*s.site().ClaimDelay()) {
		s.sendPing(p)
	}
}

func (s *State) onPong(p *peer, nonce uint64) {
	d := flow.SincePing(s.started, s.now, nonce)
	if d <= 0 || d > maxAnswer {
		return
	}
	s.roster.Answered(p.node, d)
	p.pipe.Answered(d)
	p.Pings.Add(d)
	for _, l := range s.groups(p) {
		s.measureAnswers(l)
	}
	s.wake(p)
}
