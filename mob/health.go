package mob

import (
	"time"

	"github.com/mobgrid/mob/proto"
)

// health looks after the peers: round trips, stalls, silence; and after what is
// done when nothing else happens: stealing, the end game, gossip.
func (s *State) health() {
	for k := len(s.peers) - 1; k >= 0; k-- {
		if k < len(s.peers) {
			s.check(s.peers[k])
		}
	}
	s.steal()
	s.help()
	s.gossip()
}

func (s *State) check(p *peer) {
	pause := s.t.Dead / 3
	if p.owed() {
		pause = min(pause, 2*time.Second)
	}
	switch {
	case s.now.Sub(p.lastSeen) > s.t.Dead:
		s.drop(p, proto.CodeLeaving, "silent for too long")
	case p.owed() && s.now.Sub(p.moved) > s.patience(p):
		s.stall(p)
	case p.pinged == 0 && s.now.Sub(p.pingSent) > pause:
		s.ping(p)
	}
}

// patience is how long a peer that owes blocks may send nothing: longer where
// its rate and what it owes explain it.
func (s *State) patience(p *peer) time.Duration {
	return max(s.t.Stall, time.Duration(4*p.wait()*float64(time.Second)))
}

// stall gives what a peer owes to others. It is asked for a little again later.
func (s *State) stall(p *peer) {
	for _, r := range p.out {
		s.send(p, &proto.Cancel{Span: r.span})
	}
	s.reclaim(p)
	p.stalled, p.moved = true, s.now
}

func (s *State) ping(p *peer) {
	s.nonce++
	p.pinged, p.pingSent = s.nonce, s.now
	s.send(p, &proto.Ping{Nonce: s.nonce})
}

func (s *State) pong(p *peer, nonce uint64) {
	if nonce == 0 || nonce != p.pinged {
		return
	}
	p.pinged = 0
	if d := max(s.now.Sub(p.pingSent), time.Microsecond); p.rtt == 0 || d < p.rtt {
		p.rtt = d
	}
}

// gossipEvery is how often one peer, drawn at random, is told of all members:
// what was missed at the greetings spreads without a tracker.
const gossipEvery = 10 * time.Second

func (s *State) gossip() {
	if len(s.peers) == 0 || s.now.Before(s.gossipAt) {
		return
	}
	s.gossipAt = s.now.Add(gossipEvery)
	s.introduce(s.peers[s.rng.IntN(len(s.peers))])
}
