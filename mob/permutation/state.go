package permutation

import (
	"math/rand/v2"
	"slices"

	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

// State is one node's part in the gossip. It is not safe for concurrent use: one
// goroutine owns it (see the package comment).
type State struct {
	cfg     Config
	rng     *rand.Rand
	actions []Action

	topology *Topology
	sinces   []int // see Permuted
	place    int   // of the node in the topology
	calendar calendar

	// Who is there.
	joined map[proto.PeerID]*peer
	places []*peer // by place in the topology; nil for the node itself and who has not joined

	// What is there.
	batches []batch
	lacked  []int // by batch: the members, the node included, that have not decoded it
	awaited []int // of these, those who came in time for it
	oldest  int   // the first batch that is awaited, and when none is, that somebody lacks

	sending
	receiving
}

// batch is what the node has of a batch.
type batch struct {
	filled  bool // nothing more is needed of it; so it is when decoded
	decoded bool
	gone    bool          // and damaged since: it cannot be sent any more
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
		batches: make([]batch, len(cfg.Batches)), lacked: make([]int, len(cfg.Batches)), awaited: make([]int, len(cfg.Batches)),
	}
	s.calendar, s.turns = newCalendar(cfg.Batches, 1), 1
	for i, k := range cfg.Batches {
		b := &s.batches[i]
		b.decoded = cfg.Whole || slices.Contains(cfg.Decoded, i)
		b.filled = b.decoded
		if cfg.Uncoded {
			b.has = pieceset.New(k)
		}
		if cfg.Uncoded && b.decoded {
			b.has.AddRange(0, k)
		}
	}
	s.count()
	return s
}

// Round is the round that the node has come to.
func (s *State) Round() int { return s.round }

// Oldest is the batch that goes round, or the older of two; as many as there are when
// all have everything.
func (s *State) Oldest() int { return s.oldest }

// Step takes in one event and returns what to do about it, in order. The slice is
// valid until the next call. What a peer says and cannot be is ignored.
func (s *State) Step(ev Event) []Action {
	s.actions = s.actions[:0]
	switch ev := ev.(type) {
	case Permuted:
		s.permuted(ev)
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
	case Confirmed:
		s.confirmed(ev.Peer)
	case Received:
		s.received(ev)
	case Decoded:
		s.decoded(ev.Batch)
	case Filled:
		s.filled(ev.Batch)
	case Lacks:
		s.lacks(ev)
	case Discarded:
		s.discarded(ev.Batch)
	case Heard:
		if p := s.joined[ev.Peer]; p != nil && s.note(p, ev.Batch) {
			s.again()
		}
	case Mapped:
		s.mapped(ev)
	case Tick:
		s.waitNoLonger()
		s.age()
		switch {
		case s.cfg.Window > 0:
			s.again()
		case s.idle():
			s.turn()
		}
	}
	return s.actions
}

func (s *State) do(a Action) { s.actions = append(s.actions, a) }

// valid says whether there is such a batch: numbers come from peers.
func (s *State) valid(batch int) bool { return batch >= 0 && batch < len(s.batches) }

// received notes a block, with which a node that was idle may have something to
// send.
func (s *State) received(ev Received) {
	s.hear(ev.Round)
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
	if p := s.joined[ev.Peer]; p != nil {
		s.came(p)
	}
	s.again()
}

// filled notes that the node needs no more of a batch.
func (s *State) filled(i int) {
	if !s.valid(i) || s.batches[i].filled {
		return
	}
	s.batches[i].filled = true
	s.do(Tell{Batch: i})
	s.lack(i, s.since(s.place), -1)
	s.findOldest()
}

// decoded notes that the node has all of a batch.
func (s *State) decoded(i int) {
	if !s.valid(i) || s.batches[i].decoded {
		return
	}
	s.filled(i)
	s.batches[i].decoded = true
	if s.whole() {
		s.do(Finished{})
	}
}

// discarded notes that there is nothing to be sent of a batch.
func (s *State) discarded(i int) {
	if !s.valid(i) {
		return
	}
	b := &s.batches[i]
	b.gone, b.came = b.decoded, 0
	if b.filled && !b.decoded {
		b.filled = false
		s.do(Retract{Batch: i})
		s.lack(i, s.since(s.place), 1)
		s.findOldest()
	}
	if b.has != nil {
		b.has.Clear()
		s.do(Map{Batch: i, Has: b.has.Clone()})
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
