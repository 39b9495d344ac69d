package rounds

import (
	"fmt"
	"slices"

	"github.com/mobgrid/mob/mob/permutation"
	"github.com/mobgrid/mob/mob/pieceset"
	"github.com/mobgrid/mob/mob/rlnc"
	"github.com/mobgrid/mob/proto"
)

// node is one node: its mind, and what it has.
type node struct {
	index   int
	id      proto.PeerID
	mind    *permutation.State
	alive   bool
	batches []holding

	// The transfers from it, at most one, and to it, with offers at most one.
	sending *transfer
	coming  []*transfer
	busy    int // until the end of this step it receives
}

// holding is what a node has of a batch, coded or plain.
type holding struct {
	coded *rlnc.Basis
	plain *pieceset.Set
}

// block is what is sent of a batch: coefficients, or the number of a plain block.
type block struct {
	coefficients []byte
	number       int
}

func newNode(cfg *Config, i int, id proto.PeerID) (*node, error) {
	n := &node{index: i, id: id, alive: true, batches: make([]holding, len(cfg.Batches))}
	n.mind = permutation.New(permutation.Config{
		Self: id, Batches: cfg.Batches, Order: cfg.Order, Uncoded: cfg.Uncoded, Whole: i == 0, Window: cfg.Window, Seed: cfg.Seed<<16 + uint64(i),
	})
	for b, k := range cfg.Batches {
		h := &n.batches[b]
		if cfg.Uncoded {
			h.plain = pieceset.New(k)
			continue
		}
		basis := rlnc.NewBasis
		if i == 0 {
			basis = rlnc.FullBasis
		}
		var err error
		if h.coded, err = basis(k); err != nil {
			return nil, fmt.Errorf("rounds: %w", err)
		}
	}
	return n, nil
}

// add takes in a block, and says whether it was of use, and the last one needed.
func (h *holding) add(b block) (useful, last bool) {
	if h.plain != nil {
		useful = h.plain.Add(b.number)
		return useful, useful && h.plain.Full()
	}
	useful, err := h.coded.Add(b.coefficients)
	if err != nil {
		panic(err) // a block of another batch
	}
	return useful, useful && h.coded.Full()
}

// step has the node's mind take in an event, and does what it says.
func (n *node) step(s *sim, ev permutation.Event) {
	for _, a := range n.mind.Step(ev) {
		s.act(n, a)
	}
}

// act carries out an action.
func (s *sim) act(n *node, a permutation.Action) {
	switch a := a.(type) {
	case permutation.Offer:
		s.offer(a.Skipped, word{to: s.byID[a.Peer], ev: permutation.Offered{Peer: n.id, Batch: a.Batch, Round: a.Round, Skipped: a.Skipped}})
	case permutation.Accept:
		s.say(a.Peer, permutation.Accepted{Peer: n.id})
	case permutation.Refuse:
		s.say(a.Peer, permutation.Refused{Peer: n.id, Round: a.Round, Decoded: a.Decoded})
	case permutation.Free:
		s.say(a.Peer, permutation.Freed{Peer: n.id})
	case permutation.Send:
		s.send(n, s.byID[a.Peer], a)
	case permutation.Confirm:
		s.say(a.Peer, permutation.Confirmed{Peer: n.id})
	case permutation.Tell:
		s.sayAll(n, permutation.Heard{Peer: n.id, Batch: a.Batch})
	case permutation.Map:
		s.sayAll(n, permutation.Mapped{Peer: n.id, Batch: a.Batch, Has: a.Has})
	case permutation.Finished:
		s.report.Finished[n.index] = s.round()
	default:
		panic(fmt.Sprintf("rounds: unknown action %T", a))
	}
}

func (s *sim) say(to proto.PeerID, ev permutation.Event) {
	s.post(s.byID[to], ev)
}

func (s *sim) sayAll(from *node, ev permutation.Event) {
	for _, n := range s.nodes {
		if n != from {
			s.post(n, ev)
		}
	}
}

// send puts a block on its way.
func (s *sim) send(from, to *node, a permutation.Send) {
	if from.sending != nil || len(to.coming) > 0 && s.cfg.Window == 0 {
		panic("rounds: a node has two blocks on their way")
	}
	t := &transfer{from: from, to: to, batch: a.Batch, round: a.Round, leaves: s.now + s.duration(from, to)}
	t.ends = max(t.leaves, to.busy+s.steps)
	to.busy = t.ends
	if s.cfg.Uncoded {
		t.block.number = a.Block
	} else {
		t.block.coefficients = make([]byte, s.cfg.Batches[a.Batch])
		from.batches[a.Batch].coded.Combine(t.block.coefficients, s.rng)
	}
	from.sending = t
	to.coming = append(to.coming, t)
	s.report.Sent++
}

// receive takes a block that has come.
func (n *node) receive(s *sim, t *transfer) {
	n.coming = slices.DeleteFunc(n.coming, func(o *transfer) bool { return o == t })
	useful, last := n.batches[t.batch].add(t.block)
	if !useful {
		s.report.Useless++
	}
	n.step(s, permutation.Received{Peer: t.from.id, Batch: t.batch, Block: t.block.number, Round: t.round})
	if last {
		s.report.Batches[t.batch] = s.round()
		n.step(s, permutation.Decoded{Batch: t.batch})
	}
}

// kill ends a node. Its peers learn of it, and what was on its way is lost.
func (s *sim) kill(n *node) {
	n.alive = false
	for _, m := range s.nodes {
		m.coming = slices.DeleteFunc(m.coming, func(t *transfer) bool { return t.from == n })
	}
	for _, t := range n.coming {
		if t.from.sending == t {
			t.from.sending = nil
		}
	}
	n.sending, n.coming = nil, nil
	for _, m := range s.nodes {
		if m.alive {
			m.step(s, permutation.Left{Peer: n.id})
		}
	}
}
