package sim

import (
	"math/rand/v2"

	"github.com/mobgrid/mob/mob/bitset"
	"github.com/mobgrid/mob/mob/rlnc"
)

// holding has the blocks of a generation at a node in permutation gossip: combinations, or plain
// blocks. One of the two is nil.
type holding struct {
	coded *rlnc.Basis
	plain *bitset.Set
}

// block is a block of permutation gossip without its payload: the coefficients of a
// combination, or the number of a plain block.
type block struct {
	number       int
	coefficients []byte
}

// newHolding returns the holding of all or none of the k blocks of a generation. k is in bounds.
func newHolding(k int, plain, all bool) holding {
	switch {
	case plain:
		h := holding{plain: bitset.New(k)}
		if all {
			h.plain.AddRange(0, k)
		}
		return h
	case all:
		b, _ := rlnc.FullBasis(k)
		return holding{coded: b}
	default:
		b, _ := rlnc.NewBasis(k)
		return holding{coded: b}
	}
}

// block makes a new combination of the stored blocks, or the plain block of a number.
func (h *holding) block(number int, rng *rand.Rand) block {
	if h.plain != nil {
		return block{number: number}
	}
	b := block{coefficients: make([]byte, h.coded.K())}
	h.coded.Combine(b.coefficients, rng)
	return b
}

// add stores a block of the generation, and reports whether it was new.
func (h *holding) add(b block) bool {
	if h.plain != nil {
		return h.plain.Add(b.number)
	}
	innovative, _ := h.coded.Add(b.coefficients)
	return innovative
}

// full reports whether the blocks suffice.
func (h *holding) full() bool {
	if h.plain != nil {
		return h.plain.Full()
	}
	return h.coded.Full()
}
