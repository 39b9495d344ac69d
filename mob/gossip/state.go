package gossip

import (
	"fmt"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/permutation"
	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/proto"
)

// Config is what a State must know of its node and its content.
type Config struct {
	// Self is the node's own id, Cluster its cluster.
	Self    proto.PeerID
	Cluster string
	// Blocks is how many source blocks each generation has, and Have are the
	// generations that are there.
	Blocks []int
	Have   []int
	// Strategy is one of permutation gossip.
	Strategy proto.Strategy
	// Seed makes the random choices.
	Seed uint64
}

// window is how many blocks of a node may be unconfirmed (docs/design, strategies).
const window = 4

// State is the mind of one node. It is not safe for concurrent use.
type State struct {
	cfg     Config
	now     time.Time
	actions []mob.Action
	gossip  *permutation.State
	have    *pieceset.Set // generations
	drawn   drawn
	// finished says that Finished was told.
	finished bool

	members map[proto.PeerID]*member // the node itself is none
}

// member is another node of the cluster.
type member struct {
	mob.Node
	joined  bool
	decoded *pieceset.Set // generations, as it told
	dialing bool
	pause   time.Duration // before the next dial
	retryAt time.Time
	fails   int // since it last joined
}

// New is the state of a node that knows nobody yet.
func New(cfg Config) *State {
	s := &State{cfg: cfg, have: pieceset.New(len(cfg.Blocks)), members: map[proto.PeerID]*member{}}
	for _, g := range cfg.Have {
		s.have.Add(g)
	}
	order := map[proto.Strategy]permutation.Order{proto.Overlap1: permutation.Overlap1, proto.Overlap2: permutation.Overlap2}[cfg.Strategy]
	s.gossip = permutation.New(permutation.Config{
		Self: cfg.Self, Batches: cfg.Blocks, Order: order, Uncoded: cfg.Strategy == proto.RandomBlock,
		Whole: s.have.Full(), Decoded: cfg.Have, Window: window, Seed: cfg.Seed,
	})
	return s
}

// Step takes in an event and returns what to do about it, in order. The slice is valid
// until the next call.
func (s *State) Step(now time.Time, ev mob.Event) []mob.Action {
	s.now, s.actions = now, s.actions[:0]
	switch ev := ev.(type) {
	case mob.Learned:
		s.learned(ev.Nodes)
	case mob.Joined:
		s.join(ev)
	case mob.Left:
		s.leave(ev.Peer)
	case mob.Unreachable:
		s.unreachable(ev.Peer)
	case mob.Received:
		s.received(ev.Peer, ev.Message)
	case mob.Gathered:
		s.step(permutation.Received{Peer: ev.Peer, Batch: ev.Generation, Block: ev.Block, Round: ev.Round})
	case mob.Sent:
		s.step(permutation.Sent{Peer: ev.Peer})
	case mob.Decoded:
		s.have.Add(ev.Generation)
		s.step(permutation.Decoded{Batch: ev.Generation})
		s.membersChanged() // the node may be the one to draw now
	case mob.Filled:
		s.step(permutation.Filled{Batch: ev.Generation})
	case mob.Polluted:
		s.step(permutation.Discarded{Batch: ev.Generation})
	case mob.Failed:
		s.failed(ev)
	case mob.Tick:
		s.step(permutation.Tick{})
		s.dialAll()
	}
	s.drawIfDue()
	if s.have.Full() && !s.finished {
		s.finished = true
		s.do(mob.Finished{})
	}
	return s.actions
}

// Wake is after how long the next [mob.Tick] is due.
func (s *State) Wake() time.Duration {
	if s.gossip.Oldest() < len(s.cfg.Blocks) || !s.drawn.due.IsZero() {
		return tick
	}
	return time.Second
}

// tick is short to a loss, and long to a block.
const tick = 100 * time.Millisecond

// Status takes a snapshot.
func (s *State) Status() mob.Status {
	st := mob.Status{Have: s.have.Len(), Total: s.have.Cap(), Size: 1}
	lacking := s.have.Clone()
	for _, id := range s.ids() {
		m := s.members[id]
		if !m.joined {
			continue
		}
		if st.Size++; id < s.cfg.Self {
			st.Rank++
		}
		m.decoded.Each(func(g int) { lacking.Add(g) })
		st.Peers = append(st.Peers, mob.PeerStatus{Node: m.Node, Local: true, Have: m.decoded.Len()})
	}
	st.Available = lacking.Len() - s.have.Len()
	return st
}

func (s *State) do(a mob.Action) { s.actions = append(s.actions, a) }

func (s *State) send(to proto.PeerID, m proto.Message) { s.do(mob.Send{Peer: to, Message: m}) }

func (s *State) sendAll(m proto.Message) {
	for _, id := range s.ids() {
		if s.members[id].joined {
			s.send(id, m)
		}
	}
}

// step has the gossip take in an event, and translates what it does.
func (s *State) step(ev permutation.Event) {
	for _, a := range s.gossip.Step(ev) {
		switch a := a.(type) {
		case permutation.Send:
			s.do(mob.Push{Peer: a.Peer, Generation: a.Batch, Block: a.Block, Round: a.Round})
		case permutation.Confirm:
			s.send(a.Peer, &proto.Taken{})
		case permutation.Tell:
			s.sendAll(&proto.Decoded{Generations: one(a.Batch)})
		case permutation.Retract:
			s.sendAll(&proto.Decoded{Lost: one(a.Batch)})
		case permutation.Map:
			s.sendAll(&proto.Holds{Generation: uint32(a.Batch), Blocks: bits(a.Has)})
		}
	}
}

// drop ends the conversation with a peer.
func (s *State) drop(id proto.PeerID, why string, args ...any) {
	s.do(mob.Drop{Peer: id, Code: proto.CodeProtocol, Why: fmt.Sprintf(why, args...)})
	s.leave(id)
}

// failed drops who sent what cannot be a block of the content.
func (s *State) failed(ev mob.Failed) {
	for _, id := range ev.Sources {
		if m := s.members[id]; m != nil && m.joined {
			s.drop(id, "bad block of generation %d", ev.Piece)
		}
	}
}
