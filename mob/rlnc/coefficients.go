package rlnc

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// MaxK is the greatest number of source blocks in a generation.
const MaxK = 255

// CheckK returns an error unless a generation can have k source blocks.
func CheckK(k int) error {
	if k < 1 || k > MaxK {
		return fmt.Errorf("a generation of %d blocks: want 1 to %d", k, MaxK)
	}
	return nil
}

// Named writes to v the coefficients of the block with a name, which is not negative. The
// names below len(v), the number of source blocks, are the source blocks themselves; from
// the others coefficients are expanded as described in the package comment.
func Named(v []byte, name int) {
	if name < len(v) {
		clear(v)
		v[name] = 1
		return
	}
	expand(uint64(name), v)
}

// draw fills v with random coefficients that are not all zero.
func draw(v []byte, rng *rand.Rand) {
	expand(rng.Uint64(), v)
}

// expand fills v from a seed by SplitMix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", 2014).
func expand(seed uint64, v []byte) {
	if len(v) == 0 {
		return
	}
	for state, done := seed, false; !done; done = !zero(v) {
		for i := 0; i < len(v); i += 8 {
			state += 0x9e3779b97f4a7c15
			z := state
			z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			z ^= z >> 31
			var eight [8]byte
			binary.LittleEndian.PutUint64(eight[:], z)
			copy(v[i:], eight[:])
		}
	}
}

// zero reports whether all coefficients are zero.
func zero(v []byte) bool {
	for _, c := range v {
		if c != 0 {
			return false
		}
	}
	return true
}
