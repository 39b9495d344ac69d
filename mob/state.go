package mob

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/proto"
)

// State is one node's part in one swarm. It is not safe for concurrent use: one
// goroutine owns it (see the package comment).
type State struct {
	cfg    Config
	t      *Tuning
	pieces int
	rng    *rand.Rand
	now    time.Time
	out    []Action

	picker Picker
	layout Layout

	// The content, as this node has it. A number that is of use and not stored is
	// either in wanted or in fetches.
	have       *bitset.Set
	wanted     *bitset.Set
	fetches    map[int]*fetch
	unassigned []*fetch // fetches without a worker that have bytes to ask for
	complete   bool     // the content was whole once: it is served, and not written to again

	part

	// What others have.
	census

	// Who is there.
	members
	peers      []*peer // those that joined, sorted by id
	joined     map[proto.PeerID]*peer
	links      map[string]*link // by cluster
	ready      []*peer          // those that may have room and something to be asked for
	announcing []*peer          // those that may have news to be told

	schedule
}

// part is the node's part of its mob's work.
type part struct {
	rank, size int
	share      span // what the node begins first
	behind     bool // others of the cluster have so much more that the node is no help to them
	slowCount  int  // pieces that are slow on their way over the WAN
	stealing   proto.PeerID
}

// span is the numbers first <= i < end.
type span struct{ first, end int }

func (sp span) has(i int) bool { return i >= sp.first && i < sp.end }

// census is who has what, as far as the node was told.
type census struct {
	remote map[string]*remoteCluster // by other cluster
	salt   uint64                    // of the own cluster (see othersFirst)
	// inflow is what comes into the own cluster.
	inflow inflow
	// rarity counts, per piece, the other clusters that hold it; holders and
	// claims count the local peers that have it, or have asked for it.
	rarity, holders, claims []uint16
	dirty                   *bitset.Set // where it changed since the picker asked
}

// remoteCluster is what the nodes of another cluster have, or have asked for.
type remoteCluster struct {
	pieces *bitset.Set
	salt   uint64
}

// members are the nodes that the node was told of.
type members struct {
	nodes          map[string][]*node // by cluster, sorted by id
	byID           map[proto.PeerID]*node
	others         []string // the names of other clusters, sorted
	heardOfMembers bool
	membersChanged bool          // since known was worked out
	clusterKnown   bool          // each member of the own cluster has told what it has, or failed
	shareChanged   bool          // since the peers were told what the node wishes to hear of
	wan            bool          // pieces could be fetched over the WAN when peers were last filled
	answerTime     time.Duration // what members of the own cluster take to answer, see claimDelay
}

// schedule is when things began, and are due.
type schedule struct {
	started, settled  time.Time // the first step; when WAN fetching may begin at the latest
	flushed, flushAt  time.Time // when news was sent, and will be
	lazyAt            time.Time // when news that is not urgent will be
	turnAt            time.Time // when the next piece's turn comes that is put off
	waiting           []*fetch  // those that wait for others' claims until then
	helpAt            time.Time
	healthAt          time.Time
	gossipAt          time.Time
	connectAt         time.Time // when members may be worth a dial; zero for never
	shifted, restless time.Time // when members last came or went, and since when they do
}

// New is the state of a node that has the given pieces already. It panics when
// the piece length is not a positive multiple of 16 KiB.
func New(cfg Config, have []proto.Range) *State {
	picker := cfg.Picker
	if picker == nil {
		picker = newPieces(cfg.Length, cfg.PieceLength)
	}
	layout := picker.Layout()
	if layout.Size <= 0 || layout.Size%proto.Cell != 0 {
		panic("mob: piece length is not a multiple of 16 KiB")
	}
	n := layout.Count
	s := &State{
		cfg: cfg, t: &cfg.Tuning, pieces: n, picker: picker, layout: layout,
		rng:  rand.New(rand.NewPCG(cfg.Seed, 0x6d6f62)),
		have: bitset.New(n), wanted: bitset.New(n), part: part{size: 1, share: span{0, n}},
		fetches: map[int]*fetch{},
		census: census{
			remote: map[string]*remoteCluster{}, salt: clusterSalt(cfg.Cluster),
			rarity: make([]uint16, n), holders: make([]uint16, n), claims: make([]uint16, n), dirty: bitset.New(n),
		},
		members: members{nodes: map[string][]*node{}, byID: map[proto.PeerID]*node{}},
		links:   map[string]*link{}, joined: map[proto.PeerID]*peer{},
	}
	for i := range bitset.Numbers(have, n) {
		s.have.Add(i)
	}
	picker.Attach(&Control{View{s}})
	return s
}

// Step takes in one event and returns what to do about it, in order. The slice
// is valid until the next call. now must not go back.
func (s *State) Step(now time.Time, ev Event) []Action {
	s.now, s.out = now, s.out[:0]
	if s.started.IsZero() {
		s.started, s.settled, s.gossipAt = now, now.Add(s.t.Settle), now.Add(gossipEvery)
		s.checkFinished()
	}
	switch ev := ev.(type) {
	case Learned:
		s.onLearned(ev.Nodes)
	case Joined:
		s.onJoined(ev.Node)
		if p := s.joined[ev.Node.ID]; p != nil && ev.Whole {
			s.onHave(p, &proto.Have{Have: []proto.Range{{Count: uint32(s.pieces)}}})
		}
	case Left:
		s.leave(ev.Peer, false)
	case Unreachable:
		s.onUnreachable(ev.Peer)
	case Received:
		s.onReceived(ev.Peer, ev.Message)
	case Arrived:
		s.onArrived(ev.Peer, ev.Span)
	case Stored, Lost, Useless, Decoded, Polluted:
		s.picker.Apply(ev)
	case Failed:
		s.picker.Apply(ev)
		s.blame(ev.Sources, ev.Piece)
	case Checked:
		s.onChecked(ev.Peer, ev.Piece)
	case Liar:
		s.onLiar(ev.Peer)
	}
	if !s.now.Before(s.healthAt) {
		s.healthAt = s.now.Add(s.pace())
		s.health()
	}
	if !s.connectAt.IsZero() && !s.now.Before(s.connectAt) {
		s.connect()
	}
	s.endTurns()
	s.fill()
	s.flush()
	return s.out
}

// Wake is how long after a Step the next [Tick] is due at the latest.
func (s *State) Wake() time.Duration {
	at := s.healthAt
	for _, t := range []time.Time{s.flushAt, s.lazyAt, s.turnAt, s.connectAt} {
		if !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	return max(at.Sub(s.now), time.Millisecond)
}

func (s *State) do(a Action) { s.out = append(s.out, a) }

func (s *State) send(p *peer, m proto.Message) { s.do(Send{Peer: p.ID, Message: m}) }

func (s *State) onReceived(id proto.PeerID, m proto.Message) {
	p := s.joined[id]
	if p == nil {
		return
	}
	p.lastSeen = s.now
	if p.silent {
		s.setSilent(p, false)
	}
	switch m := m.(type) {
	case *proto.Have:
		if n := s.byID[id]; n != nil { // who ends the stream at once is dialled ever more seldom
			n.pause, n.fails = 0, 0
		}
		s.onHave(p, m)
	case *proto.Want:
		s.onWant(p, m)
	case *proto.Reject:
		s.onReject(p, m.Span)
	case *proto.Steal:
		s.onSteal(p, m.Rate)
	case *proto.Give:
		s.onGive(p)
	case *proto.Ping:
		s.onPing(p, m.Nonce)
	case *proto.Pong:
		s.onPong(p, m.Nonce)
	default:
		s.drop(p, proto.CodeProtocol, "unexpected message")
	}
}

// stored notes a verified piece and announces it.
func (s *State) stored(i int) {
	if !s.have.Add(i) {
		return
	}
	s.touch(i)
	if s.holders[i] == 0 {
		s.gained(i)
	}
	if f := s.fetches[i]; f != nil {
		s.cancelFetch(f)
		delete(s.fetches, i)
	}
	s.wanted.Remove(i)
	s.announce(i, updateHave)
	s.checkFinished()
}

// blame holds the sources of a bad piece to account. A single source is guilty; among several
// nobody is known to be.
func (s *State) blame(sources []proto.PeerID, i int) {
	if len(sources) != 1 {
		return
	}
	p := s.joined[sources[0]]
	if p == nil {
		return
	}
	p.strikes++
	if p.strikes >= s.t.Strikes {
		s.ban(p)
		return
	}
	s.removeHave(p, i)
	s.send(p, &proto.Bad{Piece: uint32(i)})
}

// liar bans a node that signed false blocks, which may have come by others.
func (s *State) onLiar(id proto.PeerID) {
	if p := s.joined[id]; p != nil {
		s.ban(p)
	} else if n := s.byID[id]; n != nil {
		n.banned = true
	}
}

// touch notes that the census of a number has changed.
func (s *State) touch(i int) { s.dirty.Add(i) }

// checked tells a peer again of a piece that it complained of.
func (s *State) onChecked(id proto.PeerID, i int) {
	if p := s.joined[id]; p != nil && s.have.Has(i) {
		p.pending.Have = bitset.Append(p.pending.Have, i)
		s.scheduleFlush(p, true)
	}
}

func (s *State) checkFinished() {
	if s.complete || !s.have.Full() {
		return
	}
	s.complete = true
	s.do(Finished{})
	for _, p := range s.peers {
		s.sendWant(p)
	}
}

func comparePeers(p, q *peer) int { return strings.Compare(string(p.ID), string(q.ID)) }

// sortPeers orders peers by id, so that what happens to them does not depend on
// what was noted first.
func sortPeers(ps []*peer) { slices.SortFunc(ps, comparePeers) }

func insertPeer(ps []*peer, p *peer) []*peer {
	i, _ := slices.BinarySearchFunc(ps, p, comparePeers)
	return slices.Insert(ps, i, p)
}

func removePeer(ps []*peer, p *peer) []*peer {
	return slices.DeleteFunc(ps, func(q *peer) bool { return q == p })
}
