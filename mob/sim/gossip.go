package sim

import (
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/permutation"
	"github.com/mobgrid/mob/proto"
)

// newGossip makes the strategy of permutation gossip for a node that has all of the
// content or nothing.
func (n *node) newGossip(s *sim, all bool) mob.Strategy {
	cfg := permutation.Config{
		Self:     n.ID,
		Cluster:  n.Cluster,
		Strategy: s.cfg.Strategy,
		Seed:     s.cfg.Seed<<16 + uint64(n.index),
	}
	for g := range n.store.has.Cap() {
		k := s.cfg.blocksIn(g)
		cfg.Blocks = append(cfg.Blocks, k)
		if all {
			cfg.Have = append(cfg.Have, g)
		}
		n.generations = append(n.generations, newHolding(k, s.cfg.Strategy == proto.RandomBlock, all))
	}
	return permutation.New(cfg)
}

// pushed is a block of permutation gossip in transit.
type pushed struct {
	mob.Push
	block
}

// push queues a block that no node requested. It is made when its turn comes.
func (n *node) push(s *sim, a mob.Push) {
	to := s.byID[a.Peer]
	if c := n.conns[to]; c != nil {
		size := proto.GossipHeader + s.cfg.blocksIn(a.Generation) + s.cfg.PieceLength
		n.queue.add(&frame{conn: c, from: n, to: to, pushed: &pushed{Push: a}, size: size})
		n.sendNext(s)
	}
}

// gather stores a block, and decodes its generation with the last one.
func (n *node) gather(s *sim, f *frame) {
	g := f.pushed.Generation
	h := &n.generations[g]
	useful := h.add(f.pushed.block)
	if !useful {
		s.result.Useless++
	}
	n.step(s, mob.Gathered{Peer: f.from.ID, Generation: g, Block: f.pushed.number, Round: f.pushed.Round})
	if !useful || !h.full() {
		return
	}
	n.step(s, mob.Filled{Generation: g})
	s.later(s.now, call(func() {
		if n.alive {
			n.store.has.Add(g)
			s.stored(n, g)
			n.step(s, mob.Decoded{Generation: g})
		}
	}))
}
