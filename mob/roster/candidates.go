package roster

import (
	"slices"
	"strings"
	"time"

	"github.com/mobgrid/mob/proto"
)

const (
	maxCandidates = 4096 // that a node remembers
	maxTrials     = 8    // dials of candidates in progress
)

// candidates are the members that only peers named. The members of a site are sorted by ID.
type candidates struct {
	sites  map[string][]*Node
	byID   map[proto.PeerID]*Node
	trials int // being dialed
}

func (c *candidates) add(m Member) {
	if c.byID[m.ID] != nil || len(c.byID) >= maxCandidates {
		return
	}
	n := &Node{Member: m}
	c.byID[m.ID] = n
	site := proto.ClusterGroup(m.Cluster, 1)
	list := c.sites[site]
	i, _ := find(list, m.ID)
	c.sites[site] = slices.Insert(list, i, n)
}

// remove forgets a candidate, and reports whether it was one, and whether it is being dialed.
func (c *candidates) remove(id proto.PeerID) (known, trying bool) {
	n := c.byID[id]
	if n == nil {
		return false, false
	}
	delete(c.byID, id)
	site := proto.ClusterGroup(n.Cluster, 1)
	i, _ := find(c.sites[site], id)
	c.sites[site] = slices.Delete(c.sites[site], i, i+1)
	if len(c.sites[site]) == 0 {
		delete(c.sites, site)
	}
	if n.dialing {
		c.trials--
	}
	return true, n.dialing
}

// Named adds members that a peer named.
func (r *Roster) Named(members []Member) {
	r.learned, r.stale = true, true
	for _, m := range members {
		switch n := r.byID[m.ID]; {
		case m.ID == r.self.ID:
		case n == nil:
			r.candidates.add(m)
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
	if r.near+dialing < r.maxLocal() {
		list = appendUntried(list, r.candidates.sites[site.Name])
	}
	if r.joined-r.near < r.set.MaxGlobal {
		for other, ns := range r.candidates.sites {
			if other != site.Name {
				list = appendUntried(list, r.matching(other, ns))
			}
		}
	}
	for _, n := range r.candidates.byID {
		if !n.dialing && r.work.Seeks(n.Host) {
			planned = append(planned, n)
		}
	}
	if len(planned) > 0 {
		list = planned
	}
	// The order of a map would make histories differ.
	slices.SortFunc(list, func(a, b *Node) int { return strings.Compare(string(a.ID), string(b.ID)) })
	for len(list) > 0 && r.candidates.trials < maxTrials {
		i := r.rng.IntN(len(list))
		list[i].dialing = true
		r.candidates.trials++
		r.changes = append(r.changes, Change{Kind: Dial, ID: list[i].ID})
		list = slices.Delete(list, i, i+1)
	}
}

func appendUntried(list, ns []*Node) []*Node {
	for _, n := range ns {
		if !n.dialing {
			list = append(list, n)
		}
	}
	return list
}

// matching returns the candidates of a site that would match the node if they were members.
func (r *Roster) matching(other string, ns []*Node) (out []*Node) {
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
