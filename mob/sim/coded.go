package sim

import (
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/rlnc"
)

// vector is the coefficients of a block of a coded transfer.
func (c *Config) vector(i int) []byte {
	v := make([]byte, c.blocksIn(i/c.Coding.Names))
	rlnc.Named(v, i%c.Coding.Names)
	return v
}

// takeBlock processes a block of a coded transfer.
func (n *node) takeBlock(s *sim, f *frame) {
	i := int(f.span.Piece)
	g := i / s.cfg.Coding.Names
	if n.store.has.Has(i) {
		return
	}
	b := n.ranks[g]
	if b == nil {
		b, _ = rlnc.NewBasis(s.cfg.blocksIn(g)) // validate has seen to the bounds
		n.ranks[g] = b
	}
	if innovative, _ := b.Add(s.cfg.vector(i)); !innovative {
		s.result.Useless++
		n.step(s, mob.Useless{Peer: f.from.ID, Piece: i})
		return
	}
	if !b.Full() {
		n.store.has.Add(i)
		n.step(s, mob.Stored{Piece: i})
		return
	}
	s.later(s.now, call(func() {
		if n.alive {
			n.store.has.AddRange(g*s.cfg.Coding.Names, (g+1)*s.cfg.Coding.Names)
			n.step(s, mob.Decoded{Generation: g})
		}
	}))
}
