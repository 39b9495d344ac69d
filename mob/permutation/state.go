package permutation

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/proto"
)

// Config describes the node and its content to a State.
type Config struct {
	// Self is the node's own id, Cluster its cluster.
	Self    proto.PeerID
	Cluster string
	// Blocks has the number of source blocks of each generation, and Have the
	// generations that the node has.
	Blocks []int
	Have   []int
	// Strategy is one of permutation gossip.
	Strategy proto.Strategy
	// Seed makes the random choices.
	Seed uint64
}

// tick is short compared to the loss of a block, and long compared to sending one.
const tick = 100 * time.Millisecond

// State decides for one node. It implements [mob.Strategy].
type State struct {
	cfg     Config
	rng     *rand.Rand // of plain blocks
	now     time.Time
	actions []mob.Action

	content
	members map[proto.PeerID]*member // by id; without the node itself

	// The permutations in force.
	drawn    drawn
	topology *Topology
	schedule *Schedule
	place    int       // of the node in the topology
	places   []*member // by place; nil for the node itself and members that are not joined

	pushes
}

// New returns the state of a node that knows no other node yet.
func New(cfg Config) *State {
	s := &State{
		cfg:      cfg,
		rng:      rand.New(rand.NewPCG(cfg.Seed, 0x626c6f63)),
		content:  newContent(&cfg),
		members:  map[proto.PeerID]*member{},
		topology: NewTopology(0, []proto.PeerID{cfg.Self}),
		schedule: NewSchedule(cfg.Strategy, cfg.Blocks, 1),
		places:   make([]*member, 1),
	}
	s.count()
	return s
}

// Step implements [mob.Strategy].
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
		s.gathered(ev)
	case mob.Sent:
		s.sent(ev.Peer)
	case mob.Filled:
		s.filled(ev.Generation)
	case mob.Decoded:
		s.decoded(ev.Generation)
	case mob.Polluted:
		s.dropped(ev.Generation)
	case mob.Failed:
		s.failed(ev)
	case mob.Tick:
		s.expire()
		s.push()
		s.dialAll()
	}
	s.drawIfDue()
	if s.have.Full() && !s.finished {
		s.finished = true
		s.do(mob.Finished{})
	}
	return s.actions
}

// Wake implements [mob.Strategy].
func (s *State) Wake() time.Duration {
	if s.oldest < len(s.generations) || !s.drawn.due.IsZero() {
		return tick
	}
	return time.Second
}

// Status implements [mob.Strategy].
func (s *State) Status() mob.Status {
	st := mob.Status{Have: s.have.Len(), Total: s.have.Cap(), Size: 1}
	there := s.have.Clone()
	for _, id := range s.known() {
		m := s.members[id]
		if !m.joined {
			continue
		}
		if st.Size++; id < s.cfg.Self {
			st.Rank++
		}
		for g := range m.complete.All() {
			there.Add(g)
		}
		st.Peers = append(st.Peers, mob.PeerStatus{Node: m.Node, Local: true, Have: m.complete.Len()})
	}
	st.Available = there.Len() - s.have.Len()
	return st
}

func (s *State) do(a mob.Action) { s.actions = append(s.actions, a) }

func (s *State) send(to proto.PeerID, m proto.Message) { s.do(mob.Send{Peer: to, Message: m}) }

func (s *State) sendAll(m proto.Message) {
	for _, id := range s.known() {
		if s.members[id].joined {
			s.send(id, m)
		}
	}
}

// drop ends the conversation with a peer that breaks the protocol.
func (s *State) drop(id proto.PeerID, why string, args ...any) {
	s.do(mob.Drop{Peer: id, Code: proto.CodeProtocol, Why: fmt.Sprintf(why, args...)})
	s.leave(id)
}

// failed drops the senders of what cannot be a block of the content.
func (s *State) failed(ev mob.Failed) {
	for _, id := range ev.Sources {
		if m := s.members[id]; m != nil && m.joined {
			s.drop(id, "bad block of generation %d", ev.Piece)
		}
	}
}
