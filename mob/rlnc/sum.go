package rlnc

import (
	"errors"
	"fmt"

	"github.com/klauspost/reedsolomon"
)

// ErrLength says that a payload has not the length of the generation's blocks, or
// that a part of one is asked for that is not there.
var ErrLength = errors.New("bad length of a coded block")

// Tile sizes, in bytes, found by measurement. A sum is made tile by tile, so that
// what is added to stays in the first cache.
const (
	tile = 16 << 10
	// When several sums are made at once, the tiles of all sources and sums together
	// are to stay in the second cache. Beyond these bounds nothing is gained.
	manyTiles        = 1 << 20
	minTile, maxTile = 4 << 10, 32 << 10
)

// sources are blocks to make sums of. None is longer than length; the shorter
// count as filled up with zeros.
type sources struct {
	blocks [][]byte
	length int
}

// check says what is wrong with asking for part of the sum with these weights.
func (s *sources) check(part, weights []byte, off int) error {
	if len(weights) != len(s.blocks) {
		return fmt.Errorf("%w: %d for %d blocks", ErrCoefficients, len(weights), len(s.blocks))
	}
	if off < 0 || off > s.length || len(part) > s.length-off {
		return fmt.Errorf("%w: %d bytes from %d on, of %d", ErrLength, len(part), off, s.length)
	}
	return nil
}

// sum writes to dst the bytes from off on of the sum of all blocks, each
// multiplied by its weight.
func (s *sources) sum(dst, weights []byte, off int) {
	var field reedsolomon.LowLevel
	for len(dst) > 0 {
		part := dst[:min(tile, len(dst))]
		empty := true
		for i, w := range weights {
			if w == 0 || off >= len(s.blocks[i]) {
				continue
			}
			in := s.blocks[i][off:]
			in = in[:min(len(part), len(in))]
			if empty {
				field.GalMulSlice(w, in, part)
				clear(part[len(in):])
				empty = false
			} else {
				field.GalMulSliceXor(w, in, part)
			}
		}
		if empty {
			clear(part)
		}
		dst, off = dst[len(part):], off+len(part)
	}
}

// all checks and makes a sum for each dst, with the weights at the same place.
func (s *sources) all(dst, weights [][]byte, off int) error {
	if len(dst) != len(weights) {
		return fmt.Errorf("%w: %d blocks with %d vectors", ErrCoefficients, len(dst), len(weights))
	}
	for i, d := range dst {
		if err := s.check(d, weights[i], off); err != nil {
			return err
		}
	}
	return s.sums(dst, weights, off)
}

// sums makes a sum for each dst, with the weights at the same place. As far as all
// blocks and all dst go, kernels that make up to ten sums of ten blocks at once do
// it: they read the blocks once for all sums, and ten at a time, which memory
// answers faster than one.
func (s *sources) sums(dst, weights [][]byte, off int) error {
	for k := len(s.blocks); len(dst) > 0; {
		n := min(len(dst), reedsolomonShards-k)
		if err := s.fused(dst[:n], weights[:n], off); err != nil {
			return err
		}
		dst, weights = dst[n:], weights[n:]
	}
	return nil
}

// reedsolomonShards is how many shards the library takes in GF(2^8): blocks and
// sums together. With more it goes on to another field.
const reedsolomonShards = 256

// fused makes at most as many sums as fit into one code beside the blocks.
func (s *sources) fused(dst, weights [][]byte, off int) error {
	k, common := len(s.blocks), s.length-off
	if k == 0 {
		common = 0 // the library has no such code
	}
	for _, b := range s.blocks {
		common = min(common, max(0, len(b)-off))
	}
	for _, d := range dst {
		common = min(common, len(d))
	}
	if common > 0 {
		// The sums are the parity of a Reed-Solomon code with the weights as its
		// matrix. The caller decides how many cores work.
		code, err := reedsolomon.New(k, len(dst), reedsolomon.WithCustomMatrix(weights),
			reedsolomon.WithMaxGoroutines(1), reedsolomon.WithInversionCache(false))
		if err != nil {
			return err
		}
		shards := make([][]byte, k+len(dst))
		step := min(max(minTile, manyTiles/len(shards)&^1023), maxTile)
		for at := 0; at < common; at += step {
			end := min(at+step, common)
			for i, b := range s.blocks {
				shards[i] = b[off+at : off+end]
			}
			for i, d := range dst {
				shards[k+i] = d[at:end]
			}
			if err := code.Encode(shards); err != nil {
				return err
			}
		}
	}
	for i, d := range dst {
		s.sum(d[common:], weights[i], off+common)
	}
	return nil
}
