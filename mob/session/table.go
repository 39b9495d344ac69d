package session

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mobgrid/mob/mob/assign"
	"github.com/mobgrid/mob/mob/avail"
	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/mob/roster"
	"github.com/mobgrid/mob/mob/timer"
	"github.com/mobgrid/mob/proto"
)

// Table has the facts of a node: its joined peers, its groups, and the pieces that it has, needs and fetches. Its
// methods answer questions, and set the times of the node. None sends anything.
type Table struct {
	Tuning *Tuning
	Layout Layout
	Work   *assign.Assignment
	Rand   *rand.Rand
	Now    time.Time // of the step
	Due    timer.Table

	Stored   avail.Pieces
	Complete bool // nothing is to be fetched: all pieces are stored, or the node only uploads

	Wanted     *bitset.Set // neither stored, useless nor in Fetches
	Fetches    map[int]*Fetch
	Unassigned []*Fetch // have bytes to request, and no peer
	Waiting    []*Fetch // claimed for a peer; they wait for other members' claims, and then for room

	Levels
	Peers  []*Peer // joined, sorted by ID
	Joined map[proto.PeerID]*Peer
	Ready  []*Peer // that may have room, and a piece to request
}

// NewTable returns the table of a node that has some pieces and no peers. Without a plan work is nil.
func NewTable(tuning *Tuning, layout Layout, work *assign.Assignment, seed uint64, have []proto.Range) Table {
	if work == nil {
		work = assign.Follow(nil, "")
	}
	return Table{
		Tuning:  tuning,
		Layout:  layout,
		Work:    work,
		Rand:    rand.New(rand.NewPCG(seed, 0x6d6f62)),
		Stored:  avail.NewPieces(have, layout.Count),
		Wanted:  bitset.New(layout.Count),
		Fetches: map[int]*Fetch{},
		Joined:  map[proto.PeerID]*Peer{},
	}
}

// AddLevel adds a group of the node inside of the last one. Copies of unverified pieces may be corrupt.
func (t *Table) AddLevel(g *roster.Group, unverified func(i int) bool) {
	t.Levels = append(t.Levels, &Level{
		Group:  g,
		Counts: avail.NewCounts(t.Layout.Count, unverified),
		Links:  map[string]*Link{},
		order:  avail.NewOrder(g.Name),
	})
}

// Add adds a peer that joined.
func (t *Table) Add(p *Peer) {
	t.Peers = insertPeer(t.Peers, p)
	t.Joined[p.ID] = p
}

// Remove removes a peer that left.
func (t *Table) Remove(p *Peer) {
	delete(t.Joined, p.ID)
	t.Peers, t.Ready = removePeer(t.Peers, p), removePeer(t.Ready, p)
	if p.Link != nil {
		p.Link.Peers = removePeer(p.Link.Peers, p)
	}
}

// FindReady finds the groups that the node may fetch for, and returns the ready peers. The peers come first that have
// the rest of a piece to be requested, the oldest piece first, and then they are sorted by ID. Peers may share a
// link's window, and new pieces of one must not take the room of a started one.
func (t *Table) FindReady(mayFetch func(*roster.Group) bool) []*Peer {
	for _, l := range t.Levels {
		if open := mayFetch(l.Group); open != l.Open {
			l.Open = open
			for _, p := range t.Peers {
				t.Refill(p)
			}
		}
	}
	begun := func(p *Peer) time.Time {
		if p.Local || !p.HasStarted() || p.Current.Requested() {
			return t.Now.Add(1) // last
		}
		return p.Current.Started
	}
	slices.SortFunc(t.Ready, func(p, q *Peer) int { return cmp.Or(begun(p).Compare(begun(q)), comparePeers(p, q)) })
	return t.Ready
}

// Refill has the next fill look at a peer: it may have room, or something to be requested.
func (t *Table) Refill(p *Peer) {
	if !p.Ready {
		p.Ready = true
		t.Ready = append(t.Ready, p)
	}
}

// RefillSharing wakes a peer that has more room, and those that share its link.
func (t *Table) RefillSharing(p *Peer) {
	if p.Link == nil {
		t.Refill(p)
		return
	}
	for _, q := range p.Link.Peers {
		t.Refill(q)
	}
}

// Reconsider wakes the peers that have a piece, which may be requested now.
func (t *Table) Reconsider(i int) {
	for _, p := range t.Peers {
		if p.Have.Has(i) {
			p.Idle = false
			t.Refill(p)
		}
	}
}

// ReconsiderAll wakes all peers.
func (t *Table) ReconsiderAll() {
	for _, p := range t.Peers {
		p.Idle = false
		t.Refill(p)
	}
}

// Held reports whether a peer other than p that is not rationed has a piece to be requested.
func (t *Table) Held(p *Peer, i int) bool {
	for _, q := range t.Peers {
		if q != p && q.Matched && !q.Stalled && q.Have.Has(i) && !q.Rationed {
			return true
		}
	}
	return false
}

// MeasureAnswers computes the answer time of a group: the median of the longest times that its peers
// take to answer. A mean would have every member wait for the claims of a single slow one.
func (t *Table) MeasureAnswers(l *Level) {
	var times []time.Duration
	for _, p := range t.Peers {
		if t := p.Pings.Most(); t > 0 && p.Shared > l.Index {
			times = append(times, t)
		}
	}
	slices.Sort(times)
	l.AnswerTime = times[(len(times)-1)/2]
}

func comparePeers(p, q *Peer) int { return cmp.Compare(p.ID, q.ID) }

func insertPeer(ps []*Peer, p *Peer) []*Peer {
	i, _ := slices.BinarySearchFunc(ps, p, comparePeers)
	return slices.Insert(ps, i, p)
}

func removePeer(ps []*Peer, p *Peer) []*Peer {
	return slices.DeleteFunc(ps, func(q *Peer) bool { return q == p })
}

// IsLeft reports whether a piece is left to whoever begins it for a group: no member has, claims or
// fetches it.
func (t *Table) IsLeft(l *Level, i int) bool {
	return l.Free(i) && !t.Stored.Have.Has(i) && !t.Fetches[i].Enters(l)
}

// Want adds a piece to those to fetch, unless it is stored or in progress, and reports whether that is news.
func (t *Table) Want(i int) bool {
	return !t.Stored.Have.Has(i) && t.Fetches[i] == nil && t.Wanted.Add(i)
}

// Fetching returns the number of pieces that are requested of a peer.
func (t *Table) Fetching() (n int) {
	for _, f := range t.Fetches {
		if f.Peer != nil {
			n++
		}
	}
	return n
}

// Missing returns the pieces to fetch that are not requested of a peer. The set must not be changed.
func (t *Table) Missing() *bitset.Set {
	missing := t.Wanted
	for i, f := range t.Fetches {
		if f.Peer != nil {
			continue
		}
		if missing == t.Wanted {
			missing = t.Wanted.Clone()
		}
		missing.Add(i)
	}
	return missing
}

// MaySend reports whether something of a fetch that has no peer may be requested of p.
func (t *Table) MaySend(p *Peer, f *Fetch) bool {
	return !f.Requested() && p.Have.Has(f.Piece) && !(p.Rationed && t.Held(p, f.Piece)) && !t.Work.Keeps(p.Planned, f.Piece)
}

// MayTake reports whether the node may start a piece for a group: it is free, or the plan assigns it
// to the node.
func (t *Table) MayTake(l *Level, i int) bool {
	return t.Work.Sender(i) != nil || l.Free(i) && !t.Work.Leaves(l.Index, i, t.Now)
}

// IsOverridden reports whether members have recently started pieces that the node claims: its claims
// do not count for them, and it would fetch these pieces a second time. Where there are several
// members it takes two, since one may only have been delayed. Members of other racks do not count: claims wait behind
// blocks on the way there.
func (t *Table) IsOverridden() bool {
	local, by := 0, 0
	for _, p := range t.Peers {
		if p.Local {
			local++
		}
		if t.Now.Sub(p.Overrode) < 2*t.Tuning.Stall {
			by++
		}
	}
	return by > 0 && by >= min(2, local)
}

// HealthInterval returns how long the node may leave its peers alone. When it is complete, and no
// peer is subscribed to anything, it only needs to know that they are alive.
func (t *Table) HealthInterval() time.Duration {
	if t.Complete && !slices.ContainsFunc(t.Peers, func(p *Peer) bool { return p.Box.Subscribed.Len() > 0 }) {
		return t.Tuning.Dead / 10
	}
	return t.Tuning.Queue / 2
}

// CheckSoon shortens a long health interval.
func (t *Table) CheckSoon() {
	t.Due.Sooner(timer.Health, t.Now.Add(t.Tuning.Queue/2))
}

// HoldsUp reports whether a parent is missing a piece that it is to send, and that another peer has.
func (t *Table) HoldsUp(m *assign.Member) bool {
	p := t.Joined[m.ID]
	if p.Pipe.Busy() {
		return false
	}
	checked := 0
	for i := range t.Wanted.All() {
		if !t.Work.From(m, i) || p.Have.Has(i) {
			continue
		}
		for _, q := range t.Peers {
			if q != p && q.Have.Has(i) {
				return true
			}
		}
		if checked++; checked >= maxHeldUp {
			return false
		}
	}
	return false
}

// maxHeldUp bounds the pieces that are checked for one parent.
const maxHeldUp = 64
