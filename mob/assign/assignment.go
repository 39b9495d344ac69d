package assign

import (
	"iter"
	"math"
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/conduct"
	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/proto"
)

// Assignment assigns the pieces at one node. Without a plan it has no hosts, and pieces are
// assigned by shares only.
type Assignment struct {
	plan    plan.Plan
	route   *plan.Route
	numbers map[string]int // of the hosts, by name

	self      int      // the node's host, -1 if it is not in the plan
	parents   []int    // hosts that send to the node
	neighbors []int    // parents, and hosts that the node sends to
	followed  []bool   // by host: a parent whose pieces are requested of it only
	groups    []string // of the node, from the site to its cluster
	rules     *conduct.Rules
	book      *conduct.Book
	taken     func(level, i int) bool
	until     time.Time // hosts that have not joined may still come

	// By piece: the tree through which it comes to the node, -1 if there is none, the host that sends it, and
	// the stage.
	tree, parent, stage []int32
	// By tree: the time until which the pieces requested of the source take at the rate of the tree.
	paid []time.Time

	// By host: the peers that joined under that name, and the node that other nodes named.
	members [][]*Member
	named   []proto.PeerID

	// By level and piece: the host through which the piece enters the group on its way to the node, and the
	// number of hosts that get it from outside. Computed on demand.
	gateways [][]int32
	entries  [][]int32
}

const (
	none    = -1
	unknown = -2
	// lateTimes is the time that a parent may go without a new piece, in multiples of [conduct.Rules.Stall].
	lateTimes = 3
	// credit is the time that a tree may catch up.
	credit = 2 * time.Second
)

// Follow returns the assignment of a node by a plan, by shares if the plan is nil. The host is the name of the node's
// host. An assignment is for one State.
func Follow(p *plan.Plan, host string) *Assignment {
	a := &Assignment{numbers: map[string]int{}, self: none}
	if p != nil {
		a.plan, a.route, a.self = *p, p.Route(), p.Index(host)
	}
	return a
}

// Start sets the number of pieces and the node's groups. It shares the rules and the book with the State. taken
// reports whether another member of a group has or claims a piece.
func (a *Assignment) Start(pieces int, groups []string, rules *conduct.Rules, book *conduct.Book, taken func(level, i int) bool) {
	a.groups, a.rules, a.book, a.taken = groups, rules, book, taken
	if a.route == nil {
		return
	}
	hosts := len(a.plan.Hosts)
	a.followed, a.members, a.named = make([]bool, hosts), make([][]*Member, hosts), make([]proto.PeerID, hosts)
	for h, name := range a.plan.Hosts {
		a.numbers[name] = h
	}
	a.tree, a.parent, a.stage = make([]int32, pieces), make([]int32, pieces), make([]int32, pieces)
	for i := range pieces {
		tree, stage := a.route.Tree(a.self, i)
		a.tree[i], a.parent[i], a.stage[i] = int32(tree), none, int32(stage)
		if tree >= 0 {
			a.parent[i] = int32(a.plan.Trees[tree].Parents[a.self])
		}
	}
	a.paid = make([]time.Time, len(a.plan.Trees))
	a.neighbors = a.plan.Neighbors(a.self)
	for _, h := range a.neighbors {
		if slices.ContainsFunc(a.plan.Trees, func(t plan.Tree) bool { return t.Parents[a.self] == h }) {
			a.parents = append(a.parents, h)
		}
	}
	for range groups {
		a.gateways = append(a.gateways, slices.Repeat([]int32{unknown}, pieces))
		a.entries = append(a.entries, slices.Repeat([]int32{unknown}, pieces))
	}
}

// Planned reports whether there is a plan.
func (a *Assignment) Planned() bool { return a.route != nil }

// Await sets the time until which hosts that have not joined may still come.
func (a *Assignment) Await(until time.Time) { a.until = until }

// absent is the parent while it has not joined.
//
//nolint:gochecknoglobals // never changed
var absent = Member{shared: math.MaxInt}

// Sender returns the member that a piece is requested of, nil if any member may send it. The member has no
// ID while the node waits for its parent.
func (a *Assignment) Sender(i int) *Member {
	if a.route == nil || a.parent[i] < 0 || !a.followed[a.parent[i]] {
		return nil
	}
	m := a.at(int(a.parent[i]))
	switch {
	case m == nil:
		return &absent
	case m.shared < len(a.groups) && a.taken(m.shared, i) && a.entering(m.shared, i) == 1:
		return nil
	}
	return m
}

// Sends reports whether a piece is requested of a member only.
func (a *Assignment) Sends(m *Member, i int) bool { return m != nil && a.Sender(i) == m }

// Keeps reports whether a piece is not requested of a peer, since another one is its sender.
func (a *Assignment) Keeps(m *Member, i int) bool {
	sender := a.Sender(i)
	return sender != nil && sender != m
}

// Next returns the piece to request of a parent next, -1 if there is none: of the earliest stage, and the first of
// these. All its children request the same piece at about the same time. If there is none, but a piece of a tree
// that is ahead, it returns that, and its pause, which is shorter by ahead.
func (a *Assignment) Next(m *Member, pieces iter.Seq[int], deferred func(i int) bool, now time.Time, ahead time.Duration) (piece int, pause time.Duration) {
	best, paused := none, none
	for i := range pieces {
		if best >= 0 && a.stage[i] >= a.stage[best] || a.Sender(i) != m {
			continue
		}
		if p := a.pause(m, i, now, ahead); p > 0 {
			if paused < 0 || p < pause {
				paused, pause = i, p
			}
			continue
		}
		if deferred(i) {
			continue
		}
		if best = i; a.stage[i] == 0 {
			break
		}
	}
	if best >= 0 {
		return best, 0
	}
	return paused, pause
}

// Owes reports whether the plan has the node send a piece to a member.
func (a *Assignment) Owes(to *Member, i int) bool {
	return a.self >= 0 && to != nil && a.route.Parent(to.host, i) == a.self
}

// From reports whether the plan has a parent send a piece, followed or not.
func (a *Assignment) From(m *Member, i int) bool { return int(a.parent[i]) == m.host }

// pause returns the time until the rate of its tree admits a piece from the source. Trees share the links of
// the source by their rates. Without a pause one tree would get ahead of another, since the source has every
// piece. Hosts that relay get pieces when they can forward them. The pause is shorter by ahead.
func (a *Assignment) pause(from *Member, i int, now time.Time, ahead time.Duration) time.Duration {
	if from.host != 0 || len(a.plan.Trees) == 1 {
		return 0
	}
	return max(0, a.paid[a.tree[i]].Add(-ahead).Sub(now))
}

// Pay records that a piece of a number of bytes is requested of its parent.
func (a *Assignment) Pay(i, bytes int, now time.Time) {
	paid := &a.paid[a.tree[i]]
	if earliest := now.Add(-credit); !paid.IsZero() && paid.Before(earliest) {
		*paid = earliest
	} else if paid.IsZero() {
		*paid = now
	}
	took := float64(bytes) / a.plan.Trees[a.tree[i]].Rate
	*paid = paid.Add(time.Duration(took * float64(time.Second)))
}

// Leaves reports whether another member is the gateway of a piece for a group, and is joined and gets new pieces,
// or may still come.
func (a *Assignment) Leaves(level, i int, now time.Time) bool {
	h := a.gateway(level, i)
	if h < 0 || h == a.self {
		return false
	}
	m := a.at(h)
	if m == nil {
		return now.Before(a.until)
	}
	return m.shared > level && m.peer.Claims() && !a.isLate(m, now)
}

// Precedes reports whether a member precedes the node where both claim a piece for a group. It is known if one
// of them is the gateway of the piece.
func (a *Assignment) Precedes(level int, m *Member, i int) (first, known bool) {
	h := a.gateway(level, i)
	return h != a.self, h >= 0 && (h == a.self || m != nil && a.at(h) == m)
}

// inGroup reports whether a host is in a group of the node, as far as the plan has its cluster.
func (a *Assignment) inGroup(h, level int) bool {
	return a.plan.Clusters != nil && a.plan.Clusters[h] != "" && proto.ClusterGroup(a.plan.Clusters[h], level+1) == a.groups[level]
}

// gateway returns the host through which a piece enters a group on its way to the node, or to the first host of
// the group if the node is not in the plan. It is -1 if there is none.
func (a *Assignment) gateway(level, i int) int {
	if a.route == nil {
		return none
	}
	known := &a.gateways[level][i]
	if *known == unknown {
		*known = none
		h := a.self
		for n := 0; (h < 0 || !a.inGroup(h, level)) && n < len(a.plan.Hosts); n++ {
			h = n
		}
		for h >= 0 && a.inGroup(h, level) {
			*known = int32(h)
			h = a.route.Parent(h, i)
		}
	}
	return int(*known)
}

// entering returns the number of hosts of a group that get a piece from outside, 2 if unknown.
func (a *Assignment) entering(level, i int) int {
	known := &a.entries[level][i]
	if *known == unknown {
		*known = 2
		if a.self >= 0 && a.inGroup(a.self, level) {
			*known = 0
			for h := range a.plan.Hosts {
				if parent := a.route.Parent(h, i); a.inGroup(h, level) && (parent < 0 || !a.inGroup(parent, level)) {
					*known++
				}
			}
		}
	}
	return int(*known)
}

// Update finds the parents that are followed, and reports whether they changed.
func (a *Assignment) Update(now time.Time) (changed bool) {
	for _, h := range a.parents {
		m := a.at(h)
		follow := m == nil && now.Before(a.until) ||
			m != nil && !m.peer.Stalled && !m.peer.Rationed && !m.peer.Silent && !m.late
		if follow != a.followed[h] {
			a.followed[h], changed = follow, true
		}
	}
	return changed
}

// Parents returns the number of parents, and how many of them are joined and followed.
func (a *Assignment) Parents() (parents, followed int) {
	for _, h := range a.parents {
		if a.followed[h] && a.at(h) != nil {
			followed++
		}
	}
	return len(a.parents), followed
}

// CheckLate finds the parents that got no new piece for some time, and hold the node up: they are to send pieces
// that other peers have.
func (a *Assignment) CheckLate(now time.Time, holdsUp func(*Member) bool) {
	for _, h := range a.parents {
		if m := a.at(h); m != nil {
			m.late = a.isLate(m, now) && holdsUp(m)
		}
	}
}

// isLate reports whether a member got no new piece for longer than usual, as on a link that became slow.
func (a *Assignment) isLate(m *Member, now time.Time) bool {
	return now.Sub(m.newsAt) > max(lateTimes*a.rules.Stall, lateTimes*m.news.Most())+a.book.Late
}
