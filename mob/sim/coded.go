package sim

import (
	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/mob/rlnc"
)

// blocksOf is how many source blocks a generation has.
func (s *sim) blocksOf(g int) int {
	source := int((s.cfg.Length + int64(s.cfg.PieceLength) - 1) / int64(s.cfg.PieceLength))
	return min(s.cfg.Coding.Blocks, source-g*s.cfg.Coding.Blocks)
}

// vector is the coefficients of a block.
func (s *sim) vector(i int) []byte {
	number, name := i/s.cfg.Coding.Names, i%s.cfg.Coding.Names
	v := make([]byte, s.blocksOf(number))
	rlnc.Named(v, name)
	return v
}

// takeBlock takes in a block of a coded transfer.
func (n *node) takeBlock(s *sim, x *parcel) {
	i := int(x.span.Piece)
	g := i / s.cfg.Coding.Names
	if n.store.has.Has(i) {
		return
	}
	b := n.ranks[g]
	if b == nil {
		b, _ = rlnc.NewBasis(s.blocksOf(g)) // validate has seen to the bounds
		n.ranks[g] = b
	}
	if news, _ := b.Add(s.vector(i)); !news {
		s.audit.useless++
		n.step(s, mob.Useless{Peer: x.from.ID, Piece: i})
		return
	}
	if !b.Full() {
		n.store.has.Add(i)
		n.step(s, mob.Stored{Piece: i})
		return
	}
	s.later(s.now+s.cfg.Verify, call(func() {
		if n.alive {
			n.store.has.AddRange(g*s.cfg.Coding.Names, (g+1)*s.cfg.Coding.Names)
			n.step(s, mob.Decoded{Generation: g})
		}
	}))
}
