package roster

import (
	"slices"
	"time"

	"github.com/mobgrid/mob/proto"
)

const (
	maxCandidates = 4096 // that a node remembers
	maxTrials     = 8    // dials of candidates in progress
)

// candidates are the members that only peers named, by ID.
type candidates struct {
	byID   map[proto.PeerID]*Node
	trials int // being dialed
}

// remove forgets a candidate. It returns nil if there is no such candidate.
func (c *candidates) remove(id proto.PeerID) *Node {
	n := c.byID[id]
	delete(c.byID, id)
	if n != nil && n.dialing {
		c.trials--
	}
	return n
}

// Named adds members that a peer named.
func (r *Roster) Named(members []Member) {
	r.learned, r.stale = true, true
	for _, m := range members {
		switch n := r.byID[m.ID]; {
		case m.ID == r.self.ID:
		case n == nil:
			if c := r.candidates.byID; c[m.ID] == nil && len(c) < maxCandidates {
				c[m.ID] = r.newNode(m)
			}
		case n.Host == "":
			n.Host = m.Host
			r.learnHost(n)
		}
	}
	r.DialCandidates()
}

// DialCandidates dials a few candidates, in random order: all of the own site, and the matching ones of other sites, while it has room for more peers. Neighbors in a plan come first.
func (r *Roster) DialCandidates() {
	if r.candidates.trials == maxTrials || len(r.candidates.byID) == 0 {
		return
	}
	dialing, site := 0, r.site()
	for _, n := range site.members() {
		if n.dialing {
			dialing++
		}
	}
	var list, planned []*Node
	sites := map[string][]*Node{}
	for _, n := range r.candidates.byID {
		name := proto.ClusterGroup(n.Cluster, 1)
		sites[name] = append(sites[name], n)
		if r.work.Seeks(n.Host) && !n.dialing {
			planned = append(planned, n)
		}
	}
	for name, ns := range sites {
		switch {
		case name == site.Name && r.near+dialing < r.maxLocal():
			list = append(list, ns...)
		case name != site.Name && r.joined-r.near < r.set.MaxGlobal:
			list = append(list, r.matching(name, ns)...)
		}
	}
	if len(planned) > 0 {
		list = planned
	}
	list = slices.DeleteFunc(list, func(n *Node) bool { return n.dialing })
	slices.SortFunc(list, byID) // the order of a map would make histories differ
	for len(list) > 0 && r.candidates.trials < maxTrials {
		i := r.rng.IntN(len(list))
		list[i].dialing = true
		r.candidates.trials++
		r.changes = append(r.changes, Change{Kind: Dial, ID: list[i].ID})
		list = slices.Delete(list, i, i+1)
	}
}

// matching returns the candidates of a site that would match the node if they were members.
func (r *Roster) matching(other string, ns []*Node) (out []*Node) {
	slices.SortFunc(ns, byID)
	known := r.site().nodes[other]
	first, end := r.site().Matches(len(known) + len(ns))
	for i, n := range ns {
		before, _ := find(known, n.ID)
		if rank := before + i; rank >= first && rank < end {
			out = append(out, n)
		}
	}
	return out
}

// gossipInterval is the least time between two gossips, which send one peer all members. So members that were missed
// at the start become known without a tracker. A node that has run for a longer time waits for a quarter of it:
// a peer that joins gets the members anyway.
const gossipInterval = 10 * time.Second

// Gossips reports whether it is time for gossip.
func (r *Roster) Gossips() bool {
	if r.joined == 0 || r.Now.Before(r.gossipAt) {
		return false
	}
	r.gossipAt = r.Now.Add(max(gossipInterval, r.Now.Sub(r.started)/4))
	return true
}

// Introduction returns members that are alive, to be sent to a peer, starting with its own site. If there are more
// than most, they are consecutive members from a random one on.
func (r *Roster) Introduction(to Member, most int) (ms []Member) {
	skip := 0
	if len(r.byID) > most+1 {
		skip = r.rng.IntN(len(r.byID) - most)
	}
	site := r.site()
	add := func(group string) {
		list := site.nodes[group]
		k := min(skip, len(list))
		skip -= k
		for _, n := range list[k:] {
			if len(ms) >= most {
				return
			}
			if n.alive() && n.ID != to.ID && !n.External {
				ms = append(ms, n.Member)
			}
		}
	}
	of := proto.ClusterGroup(to.Cluster, 1)
	add(of)
	if of != site.Name {
		add(site.Name)
	}
	for _, other := range site.Siblings {
		if other != of {
			add(other)
		}
	}
	return ms
}
