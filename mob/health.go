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
		s.wake(p) // a pause may be over
	}
	s.sendShare()
	s.behind = s.picker.Lag() > max(farBehind, s.pieces/16)
	s.announceSlow()
	s.steal()
	s.help()
	s.gossip()
}

// pace is how long the node may leave its peers alone. When it is whole, and nobody
// wishes to hear of anything, they are only to be known alive.
func (s *State) pace() time.Duration {
	if s.complete && !slices.ContainsFunc(s.peers, func(p *peer) bool { return p.subscribed.Len() > 0 }) {
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
	case !p.local && p.subscribed.Len() > 0:
		pause = min(pause, 3*s.t.Queue)
	case p.busy() || p.local && !s.complete && s.now.Sub(p.lastSeen) > s.t.Stall/2:
		pause = min(pause, s.t.Stall/2)
	}
	switch {
	case p.local && !p.silent && !s.complete && s.now.Sub(p.lastSeen) > 2*s.t.Stall:
		s.setSilent(p, true)
	case s.now.Sub(p.lastSeen) > s.t.Dead:
		s.drop(p, proto.CodeLeaving, "silent for too long")
	case p.busy() && s.now.Sub(p.lastBlock) > s.stallTimeout(p):
		s.stallPeer(p)
	case s.now.Sub(p.pingSent) >= pause:
		s.sendPing(p)
	}
}

// setSilent notes that a local peer fell silent, or speaks again. While it is silent
// what it owns and claims is for others.
func (s *State) setSilent(p *peer, silent bool) {
	p.silent = silent
	if n := s.byID[p.ID]; n != nil {
		n.silent = silent
	}
	if silent {
		for i := range p.claim.All() {
			s.removeClaim(p, i)
		}
		p.slow = 0
	}
	s.updateRank(p.Cluster)
}

// stallTimeout is how long a peer that owes blocks may send nothing: longer where
// its rate and what it owes explain it.
func (s *State) stallTimeout(p *peer) time.Duration {
	return max(s.t.Stall, time.Duration(4*p.wait()*float64(time.Second)))
}

// stall gives what a peer owes to others. It is asked for a little again later.
func (s *State) stallPeer(p *peer) {
	for _, r := range p.requests {
		s.send(p, &proto.Cancel{Span: r.span})
	}
	s.releaseAll(p)
	p.stalled, p.lastBlock = true, s.now
}

// measures says whether a global peer fetches over the link from here, so that it
// needs to know the queue on it. The others need it now and then, to see whether
// they are wanted there.
func (p *peer) measures() bool { return !p.local && p.subscribed.Len() > 0 && p.subscribed.Full() }

func (s *State) sendPing(p *peer) {
	p.pingSent = s.now
	s.send(p, &proto.Ping{Nonce: pingNonce(s.started, s.now)})
}

// pinged answers a ping, with one of the node's own to a global peer: both
// directions are measured at one time.
func (s *State) onPing(p *peer, nonce uint64) {
	s.send(p, &proto.Pong{Nonce: nonce})
	if p.local {
		return
	}
	p.path.pinged(s.now, sincePing(s.started, s.now, nonce))
	p.link.adjustActive(p.path.queue, s.leastActive(), func() bool {
		return p.matched && !s.isActive(p) && s.mayFetchWAN() && !s.behind && s.pick(p) >= 0
	})
	s.updateInterest(p.link)
	if p.measures() && s.now.Sub(p.pingSent) >= s.t.Queue/2 {
		s.sendPing(p)
	}
}

func (s *State) onPong(p *peer, nonce uint64) {
	d := sincePing(s.started, s.now, nonce)
	if d <= 0 || d > s.t.Dead {
		return
	}
	p.path.rtt = d
	if p.local {
		s.measureAnswer(d)
	}
	s.wake(p)
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
