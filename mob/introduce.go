package mob

import "time"

// The most members that a peer is told of at once: when it joins, and by gossip. A node has a
// hundred peers, so a few members of each are enough.
const (
	introduced = 8
	gossiped   = 256
)

// gossipInterval is how often one peer, at random, is told of all members. So what was missed at
// the start spreads without a tracker.
const gossipInterval = 10 * time.Second

func (s *State) gossip() {
	if len(s.peers) == 0 || s.now.Before(s.gossipAt) {
		return
	}
	s.gossipAt = s.now.Add(gossipInterval)
	s.introduce(s.peers[s.rng.IntN(len(s.peers))], gossiped)
}

// introduce tells a peer of at most so many members that are alive, those of its own cluster
// first. If there are more, it tells of a run of them from a random one on. That there are none
// is news as well.
func (s *State) introduce(p *peer, most int) {
	var ms []Node
	skip := 0
	if len(s.byID) > most+1 {
		skip = s.rng.IntN(len(s.byID) - most)
	}
	add := func(cluster string) {
		list := s.nodes[cluster]
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
	add(p.Cluster)
	if !p.local {
		add(s.cfg.Cluster)
	}
	for _, cluster := range s.others {
		if cluster != p.Cluster {
			add(cluster)
		}
	}
	s.do(Introduce{Peer: p.ID, Members: ms})
}
