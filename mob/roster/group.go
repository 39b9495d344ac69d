package roster

import (
	"iter"
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/proto"
)

// Group is a group of nodes that the node is in. Its siblings are the groups beside it in the same larger one,
// for the site all other sites.
type Group struct {
	Index int    // 0 is the site
	Name  string // the first Index+1 parts of the cluster's name
	assign.Group
	Siblings   []string      // sorted
	AnswerTime time.Duration // of the members; 0 if unknown

	nodes  map[string][]*Node // by group, sorted by ID; also of the group
	turn   *time.Duration
	known  bool // each member has announced its pieces, or failed
	awaits bool // see reunite
}

// ClaimDelay returns the time that a claim of a member takes to arrive: Turn, or half of the answer time where
// machines are busy.
func (g *Group) ClaimDelay() time.Duration { return max(*g.turn, g.AnswerTime/2) }

// members returns the members of the group, without the node.
func (g *Group) members() []*Node { return g.nodes[g.Name] }

// groupsOf yields the groups in which nodes of a cluster count: the node's groups that they are in, and the
// sibling of one that they are not in.
func (r *Roster) groupsOf(cluster string) iter.Seq2[*Group, string] {
	return func(yield func(*Group, string) bool) {
		shared := proto.SharedParts(cluster, r.self.Cluster)
		for _, g := range r.Groups[:min(shared+1, len(r.Groups))] {
			if !yield(g, proto.ClusterGroup(cluster, g.Index+1)) {
				return
			}
		}
	}
}

// nearest yields the members of a group that the node keeps sessions with, at most MaxLocal, by the number of
// parts of the cluster's name that they share.
func (r *Roster) nearest(g *Group) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		left := r.set.MaxLocal
		for k := len(r.Groups) - 1; k >= g.Index; k-- {
			for _, n := range r.Groups[k].members() {
				if n.shared > k+1 {
					continue // yielded before
				}
				if left--; left < 0 || !yield(n) {
					return
				}
			}
		}
	}
}

// Rerank computes the node's ranks and shares and matches members, after members of some clusters came or
// left. Pieces that are claimed stay with the member that claimed them.
func (r *Roster) Rerank(clusters ...string) {
	r.scheduleConnect()
	for _, g := range r.Groups {
		var changed []string
		for _, cluster := range clusters {
			for of, group := range r.groupsOf(cluster) {
				if of == g {
					changed = appendNew(changed, group)
				}
			}
		}
		switch {
		case len(changed) == 0:
		case slices.Contains(changed, g.Name) && r.place(g):
			r.match(g, g.Siblings...)
		default:
			r.match(g, changed...)
		}
	}
}

// place computes the node's rank and share in a group, and reports whether they have changed.
func (r *Roster) place(g *Group) bool {
	rank, size := 0, 1
	for _, n := range g.members() {
		if n.alive() {
			size++
			if n.ID < r.self.ID {
				rank++
			}
		}
	}
	if rank == g.Rank && size == g.Size {
		return false
	}
	g.Group = assign.Group{Rank: rank, Size: size, Share: r.share(rank, size)}
	r.shareChanged = true
	return true
}

// match finds the joined members of some siblings that match the node. The node requests of these. The order
// of the group's members at a link is their ranks, rotated for each link.
func (r *Roster) match(g *Group, siblings ...string) {
	for _, sibling := range siblings {
		list := g.nodes[sibling]
		if len(list) == 0 || sibling == g.Name {
			continue // it may be forgotten
		}
		position := g.Position(g.Name, sibling, g.Siblings)
		alive, rank := 0, 0
		for _, n := range list {
			if n.alive() {
				alive++
			}
		}
		first, end := g.Matches(alive)
		for _, n := range list {
			c := Change{Kind: Unmatched, ID: n.ID}
			if n.alive() {
				c = Change{Kind: Ranked, ID: n.ID, Matched: rank >= first && rank < end, Position: position}
				rank++
			}
			if n.joined {
				r.changes = append(r.changes, c)
			}
		}
		r.changes = append(r.changes, Change{Kind: Rematched, Group: g, Sibling: sibling})
	}
}

func appendNew(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}
