package rounds

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mobgrid/mob/mob/permutation"
	"github.com/mobgrid/mob/proto"
)

// sim is one run.
type sim struct {
	cfg    Config
	rng    *rand.Rand
	now    int // in steps
	steps  int // in a round
	nodes  []*node
	byID   map[proto.PeerID]*node
	report Report

	// What was said and not yet heard. Offers wait until everything else is heard,
	// by how many orders the node looked past to make them.
	words  []word
	offers [][]word
}

// word is an event on its way to a node.
type word struct {
	to *node
	ev permutation.Event
	at int // the step in which it is heard
}

// transfer is a block on its way.
type transfer struct {
	from, to *node
	batch    int
	round    int
	block    block
	// The steps at whose end it has left, and at whose end it has come.
	leaves, ends int
}

// Run simulates a broadcast until every node that lives has everything, or the
// limit. Not to finish is no error: the report says it.
func Run(cfg Config) (*Report, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s := &sim{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 0x726f756e)), byID: map[proto.PeerID]*node{}, steps: 1}
	if cfg.Jitter > 0 || cfg.Window > 0 {
		s.steps = 100
	}
	if err := s.build(); err != nil {
		return nil, err
	}
	limit := cfg.Limit
	if limit == 0 {
		limit = 10 * (cfg.blocks() + cfg.Nodes)
	}
	s.tick()
	for s.talk(); s.missing() > 0 && s.now < limit*s.steps; s.talk() {
		s.now++
		s.step()
	}
	s.report.Missing = s.missing()
	return &s.report, nil
}

// build makes the nodes and introduces them to each other.
func (s *sim) build() error {
	ids := make([]proto.PeerID, s.cfg.Nodes)
	for i := range ids {
		ids[i] = proto.PeerID(fmt.Sprintf("%08d", i))
	}
	topology := permutation.NewTopology(s.cfg.Seed, ids)
	all := make([]int, len(s.cfg.Batches))
	for i := range all {
		all[i] = i
	}
	for i, id := range ids {
		n, err := newNode(&s.cfg, i, id)
		if err != nil {
			return err
		}
		n.step(s, permutation.Permuted{Topology: topology})
		s.nodes = append(s.nodes, n)
		s.byID[id] = n
	}
	for _, n := range s.nodes {
		for _, m := range s.nodes {
			if m == s.nodes[0] {
				n.step(s, permutation.Joined{Peer: m.id, Decoded: all})
			} else {
				n.step(s, permutation.Joined{Peer: m.id})
			}
		}
	}
	s.report.Finished = make([]int, len(s.nodes))
	s.report.Batches = make([]int, len(s.cfg.Batches))
	return nil
}

// talk has the nodes talk until everybody has said what it has to say. Who looks
// past its successor makes its offer when all those have that need not.
func (s *sim) talk() {
	s.hear()
	for skipped := 0; skipped < len(s.offers); skipped++ {
		for i := 0; i < len(s.offers[skipped]); i++ {
			s.words = append(s.words, s.offers[skipped][i])
			s.hear()
		}
		s.offers[skipped] = s.offers[skipped][:0]
	}
}

// hear brings the words to whom they are for.
func (s *sim) hear() {
	i := 0
	for ; i < len(s.words) && s.words[i].at <= s.now; i++ {
		if w := s.words[i]; w.to.alive {
			w.to.step(s, w.ev)
		}
	}
	s.words = append(s.words[:0], s.words[i:]...)
}

// post puts a word on its way.
func (s *sim) post(to *node, ev permutation.Event) {
	s.words = append(s.words, word{to, ev, s.now + s.cfg.Delay*s.steps/100})
}

// offer keeps an offer until its time comes.
func (s *sim) offer(skipped int, w word) {
	for len(s.offers) <= skipped {
		s.offers = append(s.offers, nil)
	}
	s.offers[skipped] = append(s.offers[skipped], w)
}

// tick tells everybody that the time of a block has passed: who sends nothing goes
// on to the next round.
func (s *sim) tick() {
	for _, n := range s.nodes {
		if n.alive {
			n.step(s, permutation.Tick{})
		}
	}
}

// step ends a step, most often a whole round: blocks have come, and nodes die.
func (s *sim) step() {
	if s.now%s.steps == 0 {
		s.tick()
	}
	for _, n := range s.nodes {
		for _, t := range slices.Clone(n.coming) {
			if t.ends == s.now {
				n.receive(s, t)
			}
		}
	}
	for _, n := range s.nodes {
		if t := n.sending; t != nil && t.leaves == s.now {
			n.sending = nil
			n.step(s, permutation.Sent{Peer: t.to.id})
		}
	}
	for i, n := range s.nodes {
		if r, dies := s.cfg.Deaths[i]; dies && r*s.steps == s.now {
			s.kill(n)
		}
	}
}

// round is the round in which a step is.
func (s *sim) round() int { return (s.now + s.steps - 1) / s.steps }

// duration is for how many steps a block is on its way between two nodes.
func (s *sim) duration(a, b *node) int {
	steps := max(1, s.cfg.Slow[a.index], s.cfg.Slow[b.index]) * s.steps
	if j := s.cfg.Jitter * steps / 100; j > 0 {
		steps += s.rng.IntN(2*j+1) - j
	}
	return steps
}
