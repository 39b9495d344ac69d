package rlnc

import (
	"errors"
	"fmt"
)

// ErrGeneration says that a content has no generation of that number.
var ErrGeneration = errors.New("no such generation")

// Layout cuts the blocks of a content into generations: k to each, in their order,
// and to the last what is left. The zero Layout has none.
type Layout struct {
	blocks, k int
}

// NewLayout cuts a number of blocks into generations of k.
func NewLayout(blocks, k int) (Layout, error) {
	if err := CheckK(k); err != nil {
		return Layout{}, err
	}
	if blocks < 0 {
		return Layout{}, fmt.Errorf("%d blocks", blocks)
	}
	return Layout{blocks, k}, nil
}

// Generations is how many there are.
func (l Layout) Generations() int {
	if l.blocks == 0 {
		return 0
	}
	return (l.blocks-1)/l.k + 1
}

// Of gives the generation of a block of the content, and its place there.
func (l Layout) Of(block int) (generation, place int) {
	return block / l.k, block % l.k
}

// Blocks gives the blocks of a generation: the first, and how many. The error is
// [ErrGeneration].
func (l Layout) Blocks(generation int) (first, k int, err error) {
	if generation < 0 || generation >= l.Generations() {
		return 0, 0, fmt.Errorf("%w: %d of %d", ErrGeneration, generation, l.Generations())
	}
	first = generation * l.k
	return first, min(l.k, l.blocks-first), nil
}
