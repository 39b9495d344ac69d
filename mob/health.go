package mob

import (
	"slices"
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
	for _, p := range s.peers {
		s.revive(p) // a pause may be over
	}
	s.tellShare()
	s.behind = s.picker.Lag() > max(farBehind, s.pieces/16)
	s.tellTardy()
	s.steal()
	s.help()
	s.gossip()
}

// pace is how long the node may leave its peers alone. When it is whole, and nobody
// wishes to hear of anything, they are only to be known alive.
func (s *State) pace() time.Duration {
	if s.frozen && !slices.ContainsFunc(s.peers, func(p *peer) bool { return p.wants.Len() > 0 }) {
		return s.t.Dead / 10
	}
	return s.t.Queue / 2
}

// hasten has the node look after its peers at the usual pace again.
func (s *State) hasten() {
	if at := s.now.Add(s.t.Queue / 2); at.Before(s.healthAt) {
		s.healthAt = at
	}
}

// farBehind is how many pieces a node may lack that others of its cluster have,
// before it leaves the WAN to them. A node that is much slower than the others
// would only keep them waiting for what it fetches.
const farBehind = 32

func (s *State) check(p *peer) {
	pause := s.t.Dead / 3
	switch {
	case p.measures():
		pause = s.t.Queue
	case !p.local && p.wants.Len() > 0:
		pause = min(pause, 3*s.t.Queue)
	case p.owed() || p.local && !s.frozen && s.now.Sub(p.lastSeen) > s.t.Stall/2:
		pause = min(pause, s.t.Stall/2)
	}
	switch {
	case p.local && !p.quiet && !s.frozen && s.now.Sub(p.lastSeen) > 2*s.t.Stall:
		s.hush(p, true)
	case s.now.Sub(p.lastSeen) > s.t.Dead:
		s.drop(p, proto.CodeLeaving, "silent for too long")
	case p.owed() && s.now.Sub(p.moved) > s.patience(p):
		s.stall(p)
	case s.now.Sub(p.pingSent) >= pause:
		s.ping(p)
	}
}

// hush notes that a local peer fell silent, or speaks again. While it is silent
// what it owns and claims is for others.
func (s *State) hush(p *peer, quiet bool) {
	p.quiet = quiet
	if n := s.byID[p.ID]; n != nil {
		n.quiet = quiet
	}
	if quiet {
		for i := range p.claim.All() {
			s.unclaim(p, i)
		}
		p.left = 0
	}
	s.reshare(p.Cluster)
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

// measures says whether a global peer fetches over the link from here, so that it
// needs to know the queue on it. The others need it now and then, to see whether
// they are wanted there.
func (p *peer) measures() bool { return !p.local && p.wants.Len() > 0 && p.wants.Full() }

func (s *State) ping(p *peer) {
	p.pingSent = s.now
	s.send(p, &proto.Ping{Nonce: pingNonce(s.started, s.now)})
}

// pinged answers a ping, with one of the node's own to a global peer: both
// directions are measured at one time.
func (s *State) pinged(p *peer, nonce uint64) {
	s.send(p, &proto.Pong{Nonce: nonce})
	if p.local {
		return
	}
	p.path.pinged(s.now, sincePing(s.started, s.now, nonce))
	p.link.adjustActive(p.path.queue, s.leastCrew(), func() bool {
		return p.matched && !s.onCrew(p) && s.mayFetchWAN() && !s.behind && s.pick(p) >= 0
	})
	s.tellCrew(p.link)
	if p.measures() && s.now.Sub(p.pingSent) >= s.t.Queue/2 {
		s.ping(p)
	}
}

func (s *State) pong(p *peer, nonce uint64) {
	d := sincePing(s.started, s.now, nonce)
	if d <= 0 || d > s.t.Dead {
		return
	}
	p.path.rtt = d
	if p.local {
		s.answered(d)
	}
	s.revive(p)
	if p.rtt == 0 || d < p.rtt {
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
	s.introduce(s.peers[s.rng.IntN(len(s.peers))], gossiped)
}
