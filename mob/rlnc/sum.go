package rlnc

import (
	"fmt"

	"github.com/klauspost/reedsolomon"
)

// Sums are made in tiles of this number of bytes, found by measurement: a tile of a sum stays in the first cache, and the tiles
// of all blocks in the second one.
const tile = 8 << 10

// sources are blocks to make sums of. None is longer than length; shorter ones count as
// filled up with zeros.
type sources struct {
	blocks [][]byte
	length int
}

// check returns an error unless dst can take a sum with these weights.
func (s *sources) check(dst, weights []byte) error {
	if len(weights) != len(s.blocks) {
		return fmt.Errorf("%d coefficients for %d blocks", len(weights), len(s.blocks))
	}
	if len(dst) > s.length {
		return fmt.Errorf("%d bytes of a coded block of %d", len(dst), s.length)
	}
	return nil
}

// sum writes to dst the sum of all blocks, each multiplied by its weight. The error is one of length.
func (s *sources) sum(dst, weights []byte) error {
	if err := s.check(dst, weights); err != nil {
		return err
	}
	s.sums([][]byte{dst}, [][]byte{weights})
	return nil
}

// sums makes a sum for each dst, with the weights at the same index. Tile by tile it makes all of them, so that the blocks are
// read from memory once.
func (s *sources) sums(dst, weights [][]byte) {
	for off := 0; off < s.length; off += tile {
		for i, d := range dst {
			if off < len(d) {
				s.sumTile(off, d[off:min(off+tile, len(d))], weights[i])
			}
		}
	}
}

// sumTile writes to dst the bytes of the sum from off on.
func (s *sources) sumTile(off int, dst, weights []byte) {
	var field reedsolomon.LowLevel
	empty := true
	for i, w := range weights {
		if w == 0 || off >= len(s.blocks[i]) {
			continue
		}
		in := s.blocks[i][off:]
		in = in[:min(len(dst), len(in))]
		if empty {
			field.GalMulSlice(w, in, dst)
			clear(dst[len(in):])
			empty = false
		} else {
			field.GalMulSliceXor(w, in, dst)
		}
	}
	if empty {
		clear(dst)
	}
}
