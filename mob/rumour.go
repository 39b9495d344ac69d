package mob

import (
	"slices"
	"strings"

	"github.com/mobgrid/mob/proto"
)

const (
	// maxRumours bounds the rumours that a node remembers.
	maxRumours = 4096
	// maxTrials is how many of them it dials at a time.
	maxTrials = 8
)

// rumours are the members that only peers told of. They are not counted or told to a peer until they
// join: a peer may invent thousands. The members of a site are sorted by id.
type rumours struct {
	sites  map[string][]*node
	byID   map[proto.PeerID]*node
	trials int // how many are dialing
}

func (r *rumours) add(nd Node) {
	if r.byID[nd.ID] != nil || len(r.byID) >= maxRumours {
		return
	}
	n := &node{Node: nd}
	r.byID[nd.ID] = n
	site := proto.ClusterGroup(nd.Cluster, 1)
	list := r.sites[site]
	i, _ := findNode(list, nd.ID)
	r.sites[site] = slices.Insert(list, i, n)
}

// remove forgets a rumour, and reports whether there was one, and whether it is being dialled.
func (r *rumours) remove(id proto.PeerID) (known, trying bool) {
	n := r.byID[id]
	if n == nil {
		return false, false
	}
	delete(r.byID, id)
	site := proto.ClusterGroup(n.Cluster, 1)
	i, _ := findNode(r.sites[site], id)
	r.sites[site] = slices.Delete(r.sites[site], i, i+1)
	if len(r.sites[site]) == 0 {
		delete(r.sites, site)
	}
	if n.dialing {
		r.trials--
	}
	return true, n.dialing
}

// onRumours takes in members that a peer told of.
func (s *State) onRumours(nodes []Node) {
	s.heardOfMembers, s.membersChanged = true, true
	for _, nd := range nodes {
		switch n := s.byID[nd.ID]; {
		case nd.ID == s.cfg.Self:
		case n == nil:
			s.rumours.add(nd)
		case n.Host == "":
			n.Host = nd.Host
			s.learnHost(n)
		}
	}
	s.tryRumours()
}

// tryRumours dials rumours, a few at a time and in random order: all of the own site, and those of
// other sites whose shares would overlap the node's, while it has room for more peers.
func (s *State) tryRumours() {
	if s.rumours.trials == maxTrials || len(s.rumours.byID) == 0 {
		return
	}
	local := 0
	for _, p := range s.peers {
		if p.near() {
			local++
		}
	}
	dialing, site := 0, s.site()
	for _, n := range site.members() {
		if n.dialing {
			dialing++
		}
	}
	var list []*node
	if local+dialing < s.maxLocal() {
		list = appendUntried(list, s.rumours.sites[site.name])
	}
	if len(s.peers)-local < s.t.MaxGlobal {
		for other, rs := range s.rumours.sites {
			if other != site.name {
				list = appendUntried(list, s.matchingRumours(other, rs))
			}
		}
	}
	var planned []*node
	for _, r := range s.rumours.byID {
		if !r.dialing && s.work.Seeks(r.Host) {
			planned = append(planned, r)
		}
	}
	if len(planned) > 0 {
		list = planned
	}
	// The order of a map would make histories differ.
	slices.SortFunc(list, func(a, b *node) int { return strings.Compare(string(a.ID), string(b.ID)) })
	for len(list) > 0 && s.rumours.trials < maxTrials {
		i := s.rng.IntN(len(list))
		list[i].dialing = true
		s.rumours.trials++
		s.do(Dial{Peer: list[i].ID})
		list = slices.Delete(list, i, i+1)
	}
}

func appendUntried(list, rs []*node) []*node {
	for _, r := range rs {
		if !r.dialing {
			list = append(list, r)
		}
	}
	return list
}

// matchingRumours returns the rumours of a site that the node would dial if they were members.
func (s *State) matchingRumours(other string, rs []*node) []*node {
	site := s.site()
	known := site.nodes[other]
	first, end := site.Matches(len(known) + len(rs))
	var out []*node
	for i, r := range rs {
		before, _ := findNode(known, r.ID)
		if rank := before + i; rank >= first && rank < end {
			out = append(out, r)
		}
	}
	return out
}
