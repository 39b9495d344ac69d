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

func comparePeers(p, q *Peer) int { return cmp.Compare(p.ID, q.ID) }

func insertPeer(ps []*Peer, p *Peer) []*Peer {
	i, _ := slices.BinarySearchFunc(ps, p, comparePeers)
	return slices.Insert(ps, i, p)
}

func removePeer(ps []*Peer, p *Peer) []*Peer {
	return slices.DeleteFunc(ps, func(q *Peer) bool { return q == p })
}
