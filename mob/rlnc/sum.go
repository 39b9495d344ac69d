package rlnc

import (
	"fmt"

	"github.com/klauspost/reedsolomon"
)

// Tile sizes, in bytes, found by measurement. A sum is made tile by tile, so that what is
// added to stays in the first cache.
const (
	tile = 16 << 10
	// When several sums are made at once, the tiles of all sources and sums together
	// are to stay in the second cache. Beyond these bounds nothing is gained.
	manyTiles        = 1 << 20
	minTile, maxTile = 4 << 10, 32 << 10
)

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

// sum writes to dst the sum of all blocks, each multiplied by its weight.
func (s *sources) sum(dst, weights []byte) { s.sumFrom(0, dst, weights) }

// sumFrom writes to dst the bytes of the sum from off on.
func (s *sources) sumFrom(off int, dst, weights []byte) {
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

// sums makes a sum for each dst, with the weights at the same index. As far as all blocks
// and all dst go, kernels that make up to ten sums of ten blocks at once do it: they read
// the blocks once for all sums, and ten at a time, which memory answers faster than one.
func (s *sources) sums(dst, weights [][]byte) error {
	for k := len(s.blocks); len(dst) > 0; {
		n := min(len(dst), reedsolomonShards-k)
		if err := s.fused(dst[:n], weights[:n]); err != nil {
			return err
		}
		dst, weights = dst[n:], weights[n:]
	}
	return nil
}

// reedsolomonShards is how many shards the library takes in GF(2^8): blocks and sums
// together. With more it goes on to another field.
const reedsolomonShards = 256

// fused makes at most as many sums as fit into one code beside the blocks.
func (s *sources) fused(dst, weights [][]byte) error {
	k, common := len(s.blocks), s.length
	for _, b := range s.blocks {
		common = min(common, len(b))
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
				shards[i] = b[at:end]
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
		s.sumFrom(common, d[common:], weights[i])
	}
	return nil
}
