package mob

import (
	"time"

	"github.com/mobgrid/mob/mob/plan"
	"github.com/mobgrid/mob/proto"
)

// planned is the [Picker] of a node that follows a plan, and what the State has to know of that.
//
// A plan says for each piece which host sends it to the node: its parent. The node requests the piece
// of that parent alone, as soon as it has it, and whatever others claim. It does not take turns, help
// with late pieces or steal: a plan that was made for other rates is to cost what it costs. Two things
// make a piece one like those of a swarm, which members fetch by shares and claims:
//
//   - The parent is not followed: it is not there, does not answer, or gets nothing new for long.
//     It is followed again once that is over.
//   - The plan has the piece enter a group that the node is in by the node alone, and another member
//     has it or claims it. So a node that was away does not fetch again what others stole.
//
// Whoever steals, like a host that is not in the plan, leaves to the hosts of its groups what the plan
// has them bring there, as long as they are there and get something. So a piece enters a group as
// often as the plan says.
//
// A host is known by its name, which is a hint: pieces are verified whoever sends them.
type planned struct {
	pieces
	plan    *plan.Plan
	route   *plan.Route
	numbers map[string]int // of the hosts, by name

	self       int    // the node's host, -1 if it is not in the plan
	parents    []int  // the hosts that send to the node
	neighbours []int  // these, and those to which it sends
	followed   []bool // for each host, whether its pieces are requested of it alone
	// For each piece, the tree through which it comes to the node, -1 if there is none, the host that
	// sends it, and the stage.
	tree, parent, stage []int32
	// For each tree, up to when what was requested of the source takes at the tree's rate.
	paid []time.Time

	// For each host, the peer that has joined by that name, and the node of which others told.
	peers []*peer
	nodes []*node

	// For each level and piece, the host that brings the piece into the group on its way to the node,
	// and how many hosts do. They are worked out when they are asked for.
	bringers [][]int32
	entries  [][]int32
}

const (
	// nobody is in the place of a host, and unknown that of something which was not worked out yet.
	nobody  = -1
	unknown = -2
	// lateTimes is for how many times [Tuning.Stall] a parent may get nothing new.
	lateTimes = 3
)

func newPlanned(cfg *Config) *planned {
	k := &planned{
		pieces:   *newPieces(cfg.Length, cfg.PieceLength),
		plan:     cfg.Plan,
		route:    cfg.Plan.Route(),
		numbers:  map[string]int{},
		self:     cfg.Plan.Index(cfg.Host),
		followed: make([]bool, len(cfg.Plan.Hosts)),
		peers:    make([]*peer, len(cfg.Plan.Hosts)),
		nodes:    make([]*node, len(cfg.Plan.Hosts)),
	}
	for h, name := range cfg.Plan.Hosts {
		k.numbers[name] = h
	}
	k.neighbours = cfg.Plan.Neighbours(k.self)
	n := k.layout.Count
	k.tree, k.parent, k.stage = make([]int32, n), make([]int32, n), make([]int32, n)
	for i := range n {
		tree, stage := k.route.Tree(k.self, i)
		k.tree[i], k.parent[i], k.stage[i] = int32(tree), nobody, int32(stage)
		if tree >= 0 {
			k.parent[i] = int32(k.plan.Trees[tree].Parents[k.self])
		}
	}
	k.paid = make([]time.Time, len(k.plan.Trees))
	for _, h := range k.neighbours {
		for _, t := range k.plan.Trees {
			if t.Parents[k.self] == h {
				k.parents = append(k.parents, h)
				break
			}
		}
	}
	return k
}

// Attach implements [Picker].
func (k *planned) Attach(c *Control) {
	k.pieces.Attach(c)
	for range c.Levels() {
		k.bringers, k.entries = append(k.bringers, fill32(k.layout.Count)), append(k.entries, fill32(k.layout.Count))
	}
	c.s.plan = k
}

// fill32 returns n numbers that are unknown.
func fill32(n int) []int32 {
	a := make([]int32, n)
	for i := range a {
		a[i] = unknown
	}
	return a
}

// Pick implements [Picker]. Of what a parent sends it takes the earliest stage first, and then the
// first piece: all its children request the same about the same time, and pass it on.
func (k *planned) Pick(p Peer) int {
	if p.p.parent {
		if i := k.pickOrdered(p); i >= 0 {
			k.pay(i)
			return i
		}
	}
	return k.pick(p, func(i int) bool { return k.orders(i) || p.Deferred(i) })
}

// pickOrdered returns the piece to request of a parent, -1 if there is none.
func (k *planned) pickOrdered(p Peer) int {
	best, held := -1, -1
	for i := range k.Wanted().Intersection(p.Has(), 0) {
		switch {
		case k.sender(i) != p.p || best >= 0 && k.stage[i] >= k.stage[best]:
		case k.pause(p.p, i) > 0:
			if held < 0 || k.pause(p.p, i) < k.pause(p.p, held) {
				held = i
			}
		case p.Deferred(i):
		case k.stage[i] == 0:
			return i
		default:
			best = i
		}
	}
	if best < 0 && held >= 0 {
		k.s.deferPiece(p.p, held, k.pause(p.p, held))
	}
	return best
}

// credit is for how long a tree may make up for what it did not get.
const credit = 2 * time.Second

// pause returns how long a piece from the source waits until the rate of its tree admits it. Trees share
// the links out of the source by their rates: it has every piece from the start on, and one tree would
// run ahead of another, whose hosts have to pass on what it carries. Hosts that relay get pieces as they
// can pass them on.
func (k *planned) pause(p *peer, i int) time.Duration {
	if p.host != 0 || len(k.plan.Trees) == 1 {
		return 0
	}
	return max(0, k.paid[k.tree[i]].Add(-k.s.t.Queue).Sub(k.s.now))
}

// pay notes that a piece is requested.
func (k *planned) pay(i int) {
	t := k.tree[i]
	if earliest := k.s.now.Add(-credit); !k.paid[t].IsZero() && k.paid[t].Before(earliest) {
		k.paid[t] = earliest
	} else if k.paid[t].IsZero() {
		k.paid[t] = k.s.now
	}
	took := float64(k.layout.size(i)) / k.plan.Trees[t].Rate
	k.paid[t] = k.paid[t].Add(time.Duration(took * float64(time.Second)))
}

// sender returns the peer of which alone a piece is requested: nil if the piece is one like those of a
// swarm, and the zero peer if it waits for a parent that is not there yet.
func (k *planned) sender(i int) *peer {
	if k == nil || k.parent[i] < 0 || !k.followed[k.parent[i]] {
		return nil
	}
	p := k.peers[k.parent[i]]
	if p == nil {
		return &absent
	}
	if !p.local {
		l := p.level
		if (l.holders[i] > 0 || l.claims[i] > 0) && k.entering(l, i) == 1 {
			return nil
		}
	}
	return p
}

// absent stands for a parent that has not joined.
//
//nolint:gochecknoglobals // never changed
var absent peer

// keeps reports whether a piece is for another peer to send.
func (k *planned) keeps(p *peer, i int) bool {
	q := k.sender(i)
	return q != nil && q != p
}

// orders reports whether a piece is requested by the plan.
func (k *planned) orders(i int) bool { return k.sender(i) != nil }

// follows reports whether a fetch goes on by the plan.
func (k *planned) follows(f *fetch) bool {
	return k != nil && f.peer != nil && k.sender(f.Piece) == f.peer
}

// sendsTo reports whether the plan has the node send a piece to a peer.
func (k *planned) sendsTo(p *peer, i int) bool {
	if k == nil || p.host < 0 || k.self < 0 {
		return false
	}
	parent, _ := k.route.Parent(p.host, i)
	return parent == k.self
}

// leavesToBringer reports whether another member of a group, which the plan has bring a piece into it, is
// there and gets something.
func (k *planned) leavesToBringer(l *level, i int) bool {
	if k == nil {
		return false
	}
	h := k.bringer(l, i)
	if h < 0 || h == k.self {
		return false
	}
	p := k.peers[h]
	if p == nil {
		return k.isAwaited()
	}
	return p.shared > l.index && p.Claims() && !k.isLate(p)
}

// precedence says who goes first where the node and a peer have both claimed a piece for a group: the
// one that is to bring it there. It says nothing if that is neither.
func (k *planned) precedence(l *level, p *peer, i int) (peerFirst, known bool) {
	if k == nil {
		return false, false
	}
	h := k.bringer(l, i)
	return h != k.self, h >= 0 && (h == k.self || k.peers[h] == p)
}

// inGroup reports whether a host is in a group, as far as the plan knows.
func (k *planned) inGroup(h int, l *level) bool {
	return k.plan.Clusters != nil && k.plan.Clusters[h] != "" && proto.ClusterGroup(k.plan.Clusters[h], l.index+1) == l.name
}

// bringer returns the host that brings a piece into a group on its way to the node, or to the first host
// of the group if the node is not in the plan.
func (k *planned) bringer(l *level, i int) int {
	known := &k.bringers[l.index][i]
	if *known == unknown {
		*known = nobody
		h := k.self
		for n := 0; (h < 0 || !k.inGroup(h, l)) && n < len(k.plan.Hosts); n++ {
			h = n
		}
		for h >= 0 && k.inGroup(h, l) {
			*known = int32(h)
			h, _ = k.route.Parent(h, i)
		}
	}
	return int(*known)
}

// entering returns how many hosts of a group get a piece from outside of it, 2 if that is not known.
func (k *planned) entering(l *level, i int) int {
	known := &k.entries[l.index][i]
	if *known == unknown {
		*known = 2
		if k.self >= 0 && k.inGroup(k.self, l) {
			*known = 0
			for h := range k.plan.Hosts {
				if parent, _ := k.route.Parent(h, i); k.inGroup(h, l) && (parent < 0 || !k.inGroup(parent, l)) {
					*known++
				}
			}
		}
	}
	return int(*known)
}

// update finds out which parents are followed, and has the node look again for work if that changes.
func (k *planned) update() {
	if k == nil {
		return
	}
	for _, h := range k.parents {
		p := k.peers[h]
		follow := p == nil && k.isAwaited() || p != nil && !p.Stalled && !p.Rationed && !p.Silent && !p.late
		if follow != k.followed[h] {
			k.followed[h] = follow
			k.ReconsiderAll()
		}
	}
}

// counts returns how many parents the node has, and how many of them are there and followed.
func (k *planned) counts() (parents, followed int) {
	if k == nil {
		return 0, 0
	}
	for _, h := range k.parents {
		if k.followed[h] && k.peers[h] != nil {
			followed++
		}
	}
	return len(k.parents), followed
}

// isAwaited reports whether hosts that are not there may still be about to come.
func (k *planned) isAwaited() bool { return k.s.now.Sub(k.s.started) < k.s.t.Settle }

// checkLate finds out which parents are late: they got nothing new for long, and lack pieces that the
// node is to get from them and that others have.
func (k *planned) checkLate() {
	if k == nil {
		return
	}
	for _, h := range k.parents {
		if p := k.peers[h]; p != nil {
			p.late = !p.pipe.Busy() && k.isLate(p) && k.holdsUp(p, h)
		}
	}
}

// isLate reports whether a peer has got nothing new for long: longer than what it had took to come,
// which links that became slow explain.
func (k *planned) isLate(p *peer) bool {
	return k.s.now.Sub(p.newsAt) > max(lateTimes*k.s.t.Stall, lateTimes*p.news.Most())+k.s.book.Late
}

// maxHeldUp bounds the pieces that are looked at for one parent.
const maxHeldUp = 64

// holdsUp reports whether a peer lacks a piece that it is to send, and that another peer has.
func (k *planned) holdsUp(p *peer, h int) bool {
	seen := 0
	for i := range k.Wanted().All() {
		if int(k.parent[i]) != h || p.have.Has(i) {
			continue
		}
		for _, q := range k.s.peers {
			if q != p && q.have.Has(i) {
				return true
			}
		}
		if seen++; seen >= maxHeldUp {
			return false
		}
	}
	return false
}

// noteNews notes that a peer has got a piece.
func (p *peer) noteNews(now time.Time) {
	if since := now.Sub(p.newsAt); since > 0 {
		p.news.Add(since)
	}
	p.newsAt, p.late = now, false
}
