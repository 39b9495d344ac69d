package roster

import (
	"slices"

	"github.com/mobgrid/mob/mob/timer"
)

const (
	// maxRestless bounds the delay of dials while members come and leave, in multiples of [Settings.Calm].
	maxRestless = 10
	// minLocal is the least number of local peers that a node dials. A graph of nodes with that many random
	// neighbors remains connected, even if half of the nodes leave.
	minLocal = 4
)

// scheduleConnect has the node dial once members have stopped coming and leaving for a moment, longer where
// machines are busy. Until then ranks shift, and peers that are dialed by rank are soon of no use.
func (r *Roster) scheduleConnect() {
	calm := max(r.set.Calm, r.site().ClaimDelay())
	if r.Now.Sub(r.shifted) > calm {
		r.restless = r.Now
	}
	r.shifted = r.Now
	at := r.Now.Add(calm)
	if latest := r.restless.Add(maxRestless * calm); at.After(latest) {
		at = latest
	}
	r.due[timer.Connect] = at
}

// Connect dials the peers of the own site, and rank-matched peers of other sites, and of other racks of a large
// site. A node that does not fetch dials fewer.
func (r *Roster) Connect(fetches bool) {
	if !r.due.Expired(timer.Connect, r.Now) {
		return
	}
	r.restless = r.Now
	for _, id := range r.work.Missing() {
		if n := r.byID[id]; n != nil {
			r.dial(n)
		}
	}
	r.dialSite(fetches)
	budget := r.set.MaxGlobal
	for _, g := range r.Groups {
		for _, sibling := range g.Siblings {
			budget = r.dialMatches(g, sibling, budget)
		}
	}
	r.DialCandidates()
}

// dialSite dials the members of the own site.
func (r *Roster) dialSite(fetches bool) {
	list := r.site().members()
	if most := r.maxLocal(); most < min(len(list), r.set.MaxLocal) {
		if fetches {
			r.dialRandom(list, most)
		}
		return
	}
	for n := range r.nearest(r.site()) {
		r.dial(n)
	}
}

// maxLocal returns the number of local peers that the node dials.
func (r *Roster) maxLocal() int {
	if r.set.Session <= 0 || slices.ContainsFunc(r.Groups, func(g *Group) bool { return len(g.Siblings) > 0 }) {
		return r.set.MaxLocal
	}
	return int(min(int64(r.set.MaxLocal), max(minLocal, r.length/int64(r.set.Session))))
}

// dialRandom dials random members of the own cluster, unless the node has enough local peers, whichever side
// dialed.
func (r *Roster) dialRandom(members []*Node, most int) {
	var left []*Node
	for _, n := range members {
		switch {
		case n.dialing || n.joined && !n.silent:
			most--
		case !n.joined:
			left = append(left, n)
		}
	}
	for len(left) > 0 && most > 0 {
		i, last := r.rng.IntN(len(left)), len(left)-1
		n := left[i]
		left[i], left = left[last], left[:last]
		if r.dial(n); n.dialing { // else it has failed before
			most--
		}
	}
}

// dialMatches dials the members of a sibling of a group that match the node, up to the budget, and returns the
// rest of it.
func (r *Roster) dialMatches(g *Group, sibling string, budget int) int {
	list := g.nodes[sibling]
	alive := make([]*Node, 0, len(list))
	for rank, n := range list {
		if n.alive() {
			alive = append(alive, n)
		} else if first, end := g.Matches(len(list)); rank >= first && rank < end {
			r.dial(n) // it failed, and would match if all known members were alive
		}
	}
	first, end := g.Matches(len(alive))
	for _, n := range alive[first:end] {
		if budget == 0 {
			break
		}
		budget--
		r.dial(n)
	}
	return budget
}

// dial dials a member, after the pause if it has failed.
func (r *Roster) dial(n *Node) {
	if n.joined || n.dialing || n.Record.Banned || n.External {
		return
	}
	if r.Now.Before(n.retryAt) {
		r.due.Sooner(timer.Connect, n.retryAt)
		return
	}
	n.dialing = true
	r.changes = append(r.changes, Change{Kind: Dial, ID: n.ID, Dead: n.Record.DeadAt})
}
