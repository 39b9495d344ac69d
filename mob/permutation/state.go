package permutation

import (
	"math/rand/v2"

	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

// State is one node's part in the gossip. It is not safe for concurrent use: one
// goroutine owns it (see the package comment).
type State struct {
	cfg Config
	rng *rand.Rand
	out []Action

	topology *Topology
	place    int // of the node in the topology
	calendar calendar

	// Who is there.
	joined map[proto.PeerID]*peer
	places []*peer // by place in the topology; nil for the node itself and who has not joined

	// What is there.
	batches []batch
	lacked  []int // by batch: the members, the node included, that have not decoded it
	oldest  int   // the first batch that somebody lacks

	sending
	receiving
}

// batch is what the node has of a batch.
type batch struct {
	decoded bool
	came    int           // blocks received
	has     *pieceset.Set // the plain ones, in the baseline
}

// peer is a node that can be talked to.
type peer struct {
	id      proto.PeerID
	decoded *pieceset.Set
	has     []*pieceset.Set // plain blocks by batch, as it told; nil where it has not
	tried   int             // the last turn in which it was offered a block
}

// New is the state of a node that knows nobody yet.
func New(cfg Config) *State {
	s := &State{
		cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 0x626c6f63)), topology: NewTopology(0, []proto.PeerID{cfg.Self}),
		joined: map[proto.PeerID]*peer{}, places: make([]*peer, 1),
		batches: make([]batch, len(cfg.Batches)), lacked: make([]int, len(cfg.Batches)),
	}
	s.calendar, s.turns = newCalendar(cfg.Batches, 1), 1
	for i, k := range cfg.Batches {
		b := &s.batches[i]
		b.decoded = cfg.Whole
		if cfg.Uncoded {
			b.has = pieceset.New(k)
		}
		if cfg.Uncoded && cfg.Whole {
			b.has.AddRange(0, k)
		}
	}
	s.count()
	return s
}

// Round is the round that the node has come to.
func (s *State) Round() int { return s.round }

// Step takes in one event and returns what to do about it, in order. The slice is
// valid until the next call. What a peer says and cannot be is ignored.
func (s *State) Step(ev Event) []Action {
	s.out = s.out[:0]
	switch ev := ev.(type) {
	case Permuted:
		s.permuted(ev.Topology)
	case Joined:
		s.join(ev)
	case Left:
		s.leave(ev.Peer)
	case Offered:
		s.offered(ev)
	case Accepted:
		s.accepted(ev.Peer)
	case Refused:
		s.refused(ev)
	case Freed:
		s.freed(ev.Peer)
	case Sent:
		s.sent(ev.Peer)
	case Received:
		s.received(ev)
	case Decoded:
		s.decoded(ev.Batch)
	case Heard:
		if p := s.joined[ev.Peer]; p != nil && s.note(p, ev.Batch) {
			s.again()
		}
	case Mapped:
		s.mapped(ev)
	case Tick:
		s.waitNoLonger()
		if s.idle() {
			s.turn()
		}
	}
	return s.out
}

func (s *State) do(a Action) { s.out = append(s.out, a) }

// valid says whether there is such a batch: numbers come from peers.
func (s *State) valid(batch int) bool { return batch >= 0 && batch < len(s.batches) }

// received notes a block, with which a node that was idle may have something to
// send.
func (s *State) received(ev Received) {
	if s.valid(ev.Batch) {
		b := &s.batches[ev.Batch]
		b.came++
		if b.has != nil {
			b.has.Add(ev.Block)
			if b.came%mapEvery == 0 && !b.has.Full() {
				s.do(Map{Batch: ev.Batch, Has: b.has.Clone()})
			}
		}
	}
	if p := s.joined[ev.Peer]; p != nil && p == s.from {
		s.free()
	}
	s.again()
}

// decoded notes that the node has all of a batch.
func (s *State) decoded(i int) {
	if !s.valid(i) || s.batches[i].decoded {
		return
	}
	s.batches[i].decoded = true
	s.do(Tell{Batch: i})
	s.lack(i, -1)
	if s.whole() {
		s.do(Finished{})
	}
}

// whole says whether the node has everything.
func (s *State) whole() bool {
	for i := range s.batches {
		if !s.batches[i].decoded {
			return false
		}
	}
	return true
}
