package mob

import (
	"time"

	"github.com/mobgrid/mob/proto"
)

// The most members that a peer is told of at once: when it joins, and by gossip. A node has a
// hundred peers, so a few members of each are enough.
const (
	introduced = 8
	gossiped   = 256
)

// gossipInterval is the least time between two gossips, which tell one peer, at random, of all members. So
// what was missed at the start spreads without a tracker. A node that has run for long waits for a quarter of
// that time: a peer that joins gets the members anyway.
const gossipInterval = 10 * time.Second

func (s *State) gossip() {
	if len(s.peers) == 0 || s.now.Before(s.gossipAt) {
		return
	}
	s.gossipAt = s.now.Add(max(gossipInterval, s.now.Sub(s.started)/4))
	s.introduce(s.peers[s.rng.IntN(len(s.peers))], gossiped)
}

// introduce tells a peer of at most so many members that are alive, those of its own site first. If there are more, it tells of a run of them from a random one on. That there are none
// is news as well.
func (s *State) introduce(p *peer, most int) {
	var ms []Node
	skip := 0
	if len(s.byID) > most+1 {
		skip = s.rng.IntN(len(s.byID) - most)
	}
	site := s.site()
	add := func(group string) {
		list := site.nodes[group]
		k := min(skip, len(list))
		skip -= k
		for _, n := range list[k:] {
			if len(ms) >= most {
				return
			}
			if n.alive() && n.ID != p.ID && !n.External {
				ms = append(ms, n.Node)
			}
		}
	}
	of := proto.ClusterGroup(p.Cluster, 1)
	add(of)
	if !p.near() {
		add(site.name)
	}
	for _, other := range site.others {
		if other != of {
			add(other)
		}
	}
	s.do(Introduce{Peer: p.ID, Members: ms})
}
