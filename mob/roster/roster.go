package roster

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/conduct"
	"github.com/mobgrid/mob/mob/timer"
	"github.com/mobgrid/mob/proto"
)

// Settings are the constants of the package.
type Settings struct {
	// Turn is the least time that the claim of a local peer is assumed to take; the node measures
	// it. A new piece is left to each member whose turn is before its own for that time.
	Turn time.Duration
	// Settle is the longest time that a new node waits to learn the pieces of its cluster before it fetches
	// over the WAN.
	Settle time.Duration
	// Calm is the time without changes of members before the node dials peers of other clusters by rank.
	Calm time.Duration
	// Retry is the pause before a failed member is dialed again. It doubles up to MaxRetry.
	Retry, MaxRetry time.Duration
	// MaxLocal and MaxGlobal bound the dialed peers of the own cluster and of other clusters. It
	// accepts more.
	MaxLocal, MaxGlobal int
	// Session is the size of content, in bytes, per session with a local peer. A
	// session costs both ends about as much as to exchange that many bytes. With a small content the nodes
	// of a large cluster have few, with random members. That applies where there is one cluster
	// only: over the WAN each piece is fetched once because all members learn of each claim. 0 means that
	// a session costs nothing.
	Session int
}

// Roster is the members that a node knows.
type Roster struct {
	Groups []*Group  // of the node, from its site to its own cluster
	Now    time.Time // of the calls

	self   Member
	set    *Settings
	rules  *conduct.Rules
	work   *assign.Assignment
	rng    *rand.Rand
	due    *timer.Table
	share  func(rank, size int) assign.Share
	length int64 // of the content

	byID         map[proto.PeerID]*Node
	candidates   candidates
	joined, near int // sessions, and those in the site
	changes      []Change

	learned      bool // of any members
	stale        bool // known and awaits of the groups
	shareChanged bool

	started           time.Time // the first step
	settled           time.Time // the node fetches over the WAN from then in any case
	gossipAt          time.Time
	lastSeen          time.Time // last message of any peer
	reunited          time.Time // last return from being cut off
	shifted, restless time.Time // a member last came or left, and the first time without Calm since
}

// Kind is a kind of [Change].
type Kind uint8

// The kinds of changes.
const (
	Ranked    Kind = iota // a joined member has a new match and position
	Unmatched             // a joined member that is not alive
	Rematched             // all members of a sibling are ranked
	Forgotten             // no member of a sibling is left
	Dial                  // open a session with a member
	Ping                  // send a ping to a joined member
)

// Change is an action or a new rank that follows from a change of members.
type Change struct {
	Kind     Kind
	ID       proto.PeerID
	Matched  bool
	Position int
	Dead     time.Time // of a dial: see [conduct.Record]
	Group    *Group
	Sibling  string
}

// New returns the roster of a node that fetches length bytes.
func New(self Member, set *Settings, rules *conduct.Rules, work *assign.Assignment, rng *rand.Rand, due *timer.Table, length int64, share func(rank, size int) assign.Share) *Roster {
	r := &Roster{
		self: self, set: set, rules: rules, work: work, rng: rng, due: due, share: share, length: length,
		byID:       map[proto.PeerID]*Node{},
		candidates: candidates{byID: map[proto.PeerID]*Node{}},
	}
	for k := range proto.ClusterParts(self.Cluster) {
		r.Groups = append(r.Groups, &Group{
			Index: k, Name: proto.ClusterGroup(self.Cluster, k+1),
			Group: assign.Group{Size: 1, Share: share(0, 1)},
			nodes: map[string][]*Node{}, turn: &set.Turn,
		})
	}
	return r
}

// Start records the first step.
func (r *Roster) Start() {
	r.started, r.settled, r.gossipAt = r.Now, r.Now.Add(r.set.Settle), r.Now.Add(gossipInterval)
	r.work.Await(r.settled)
}

// Changes returns the changes since the last call. They are valid until the next call of a method.
func (r *Roster) Changes() []Change {
	cs := r.changes
	r.changes = r.changes[:0]
	return cs
}

// TakeShareChanged reports whether the node's share changed since the last call.
func (r *Roster) TakeShareChanged() bool {
	was := r.shareChanged
	r.shareChanged = false
	return was
}

func (r *Roster) site() *Group { return r.Groups[0] }

// Node returns a known member, nil if it is not known.
func (r *Roster) Node(id proto.PeerID) *Node { return r.byID[id] }

// Learned adds members that a tracker named. A failed one that is in another cluster is a new one. A node that
// does not fetch dials fewer.
func (r *Roster) Learned(members []Member, fetches bool) {
	r.learned, r.stale = true, true
	var changed []string
	for _, m := range members {
		if m.ID == r.self.ID || !r.Admits(m.Cluster) {
			continue
		}
		n := r.byID[m.ID]
		switch {
		case n == nil && len(r.byID) >= maxNodes:
		case n == nil:
			candidate := r.candidates.remove(m.ID)
			n = r.add(m)
			r.learnHost(n)
			n.dialing = candidate != nil && candidate.dialing
			changed = appendNew(changed, m.Cluster)
			if n.shared > 0 {
				r.settled = r.Now.Add(r.set.Settle)
			}
		case n.failed && !n.joined && n.Cluster != m.Cluster:
			changed = appendNew(appendNew(changed, n.Cluster), m.Cluster)
			r.add(m)
		case m.Host != "" && !n.joined:
			n.Host = m.Host
			r.learnHost(n)
		}
	}
	if len(changed) > 0 {
		r.Rerank(changed...)
		r.dialSite(fetches)
	}
}

func (r *Roster) learnHost(n *Node) {
	if r.work.Learn(n.Host, n.ID) {
		r.scheduleConnect()
	}
}

const (
	// maxNodes bounds the members that a node remembers.
	maxNodes = 50_000
	// maxFails is the number of failures in a row before a member is forgotten: about two minutes at the
	// default pauses.
	maxFails = 8
)

func (r *Roster) newNode(m Member) *Node {
	return &Node{Member: m, shared: proto.SharedParts(m.Cluster, r.self.Cluster), Record: new(conduct.Record)}
}

// add adds a member, or moves it to another cluster.
func (r *Roster) add(m Member) *Node {
	n := r.newNode(m)
	if old := r.byID[m.ID]; old != nil {
		r.remove(old)
		n.Record = old.Record
	}
	r.byID[m.ID] = n
	r.stale = true
	for g, group := range r.groupsOf(m.Cluster) {
		list, ok := g.nodes[group]
		if !ok && group != g.Name {
			k, _ := slices.BinarySearch(g.Siblings, group)
			g.Siblings = slices.Insert(g.Siblings, k, group)
			r.match(g, g.Siblings...) // positions at all links depend on the siblings
		}
		i, _ := find(list, m.ID)
		g.nodes[group] = slices.Insert(list, i, n)
	}
	return n
}

func (r *Roster) remove(n *Node) {
	delete(r.byID, n.ID)
	r.stale = true
	for g, group := range r.groupsOf(n.Cluster) {
		list := g.nodes[group]
		if i, ok := find(list, n.ID); ok {
			g.nodes[group] = slices.Delete(list, i, i+1)
		}
		r.forgetSibling(g, group)
	}
}

// forgetSibling forgets a sibling without members. Peers choose their names, and each external peer has its own
// cluster.
func (r *Roster) forgetSibling(g *Group, name string) {
	if len(g.nodes[name]) > 0 || name == g.Name {
		return
	}
	delete(g.nodes, name)
	g.Siblings = slices.DeleteFunc(g.Siblings, func(other string) bool { return other == name })
	r.changes = append(r.changes, Change{Kind: Forgotten, Group: g, Sibling: name})
	r.match(g, g.Siblings...) // positions at all links depend on the siblings
}

// Admits reports whether there is room for a cluster. A group has at most as many siblings as a tracker
// admits; a sibling whose members have all failed makes room.
func (r *Roster) Admits(cluster string) bool {
	for g, group := range r.groupsOf(cluster) {
		if group == g.Name || len(g.nodes[group]) > 0 || len(g.Siblings) < proto.MaxClusters {
			continue
		}
		k := slices.IndexFunc(g.Siblings, func(other string) bool {
			return !slices.ContainsFunc(g.nodes[other], func(n *Node) bool { return n.joined || !n.failed })
		})
		if k < 0 {
			return false
		}
		for _, n := range slices.Clone(g.nodes[g.Siblings[k]]) {
			r.remove(n)
		}
	}
	return true
}

// Met records that a session with a member opens, and returns its node and the clusters that change.
func (r *Roster) Met(m Member) (n *Node, clusters []string) {
	r.candidates.remove(m.ID)
	n, clusters = r.byID[m.ID], []string{m.Cluster}
	if n == nil || n.Cluster != m.Cluster {
		if n != nil {
			clusters = append(clusters, n.Cluster)
		}
		n = r.add(m)
	}
	if r.joined == 0 && !r.lastSeen.IsZero() && !r.isSilence() {
		r.reunite(n) // it lost all other peers at the same time
	}
	r.Seen()
	return n, clusters
}

// Joined records that a member has joined.
func (r *Roster) Joined(n *Node, host string) {
	if n.awaited > 0 { // it has not announced its pieces yet
		r.settled = r.Now.Add(r.set.Settle)
	}
	n.joined, n.announced, n.silent, n.failed, n.dialing, n.stale = true, false, false, false, false, false
	r.stale = true
	if host != "" {
		n.Host = host
	}
	r.count(n, 1)
}

func (r *Roster) count(n *Node, by int) {
	r.joined += by
	if n.shared > 0 {
		r.near += by
	}
}

// Announced records a Have of a member, and reports whether it is its first.
func (r *Roster) Announced(n *Node) (first bool) {
	if n.announced {
		return false
	}
	n.announced = true
	r.endWait(n)
	return true
}

// Working records that the sessions of a member are of use, so that the next dial is not delayed.
func (r *Roster) Working(n *Node) { n.pause, n.fails = 0, 0 }

// SetSilent records that a member fell silent, or is not any more.
func (r *Roster) SetSilent(n *Node, silent bool) {
	n.silent, r.stale = silent, true
	r.Rerank(n.Cluster)
}

// Left records that a session with a member has ended.
func (r *Roster) Left(n *Node, banned bool) {
	if n.joined {
		r.count(n, -1)
	}
	n.joined, n.Record.Banned = false, banned
	if n.External {
		r.remove(n)
	} else {
		r.lose(n, false)
	}
	r.Rerank(n.Cluster)
}

// Unreachable records that a dial has failed.
func (r *Roster) Unreachable(id proto.PeerID) {
	if r.candidates.remove(id) != nil {
		r.stale = true
		r.DialCandidates()
	}
	n := r.byID[id]
	if n == nil || n.joined {
		return
	}
	n.dialing = false
	r.lose(n, !n.stale)
	r.Rerank(n.Cluster)
}

// lose records that a session or a dial has failed. away: the member cannot be reached now. A member that is awaited
// is dialed again if that is not known.
func (r *Roster) lose(n *Node, away bool) {
	if n.awaited > 1 && !away && !n.Record.Banned {
		n.awaited--
		n.stale, r.stale = false, true
		r.dial(n)
		return
	}
	n.failed = true
	r.endWait(n)
	n.pause = min(max(2*n.pause, r.set.Retry), r.set.MaxRetry)
	n.retryAt = r.Now.Add(n.pause)
	if r.isSilence() {
		return // the node may be cut off
	}
	n.fails++
	if n.fails > maxFails && !n.Record.Banned || len(r.byID) > maxNodes {
		r.remove(n)
	}
}

// MayFetch reports whether the node knows a group well enough to fetch for it over its links, or has waited
// long enough. After it was cut off it waits for each member.
func (r *Roster) MayFetch(g *Group) bool {
	if r.stale {
		r.stale = false
		for _, g := range r.Groups {
			r.getToKnow(g)
		}
	}
	return g.known && r.learned || !g.awaits && !r.Now.Before(r.settled)
}

// getToKnow computes whether a group is known.
func (r *Roster) getToKnow(g *Group) {
	g.awaits = false
	g.known = true
	for _, n := range r.candidates.byID {
		if n.shared > g.Index {
			g.known = false
		}
	}
	for n := range r.nearest(g) {
		switch {
		case n.awaited > 0:
			g.awaits, g.known = true, false
		case !n.joined && !n.failed, n.joined && !n.announced && !n.silent:
			g.known = false
		}
	}
}
