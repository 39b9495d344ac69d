package rlnc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
)

// MaxK bounds the source blocks of a generation, which are at least one. The
// length of a vector fits a byte, and one byte is left for what is no vector.
const MaxK = 255

// MaxCoefficients bounds encoded coefficients, in bytes.
const MaxCoefficients = 1 + MaxK

// ErrCoefficients says that coefficients are none of the generation: of the wrong
// length, cut short, or all zero. Whoever sent them is wrong.
var ErrCoefficients = errors.New("bad coefficients")

// CheckK says what is wrong with k as the number of source blocks, if anything.
func CheckK(k int) error {
	if k < 1 || k > MaxK {
		return fmt.Errorf("a generation of %d blocks: want 1 to %d", k, MaxK)
	}
	return nil
}

// Coefficients tell of which sum of the source blocks a coded block is, in the
// form that goes over the wire: a vector, or without one the seed that it comes
// from.
type Coefficients struct {
	Vector []byte
	Seed   uint64
}

// Append appends the encoding, which is described at the package. The vector, if
// there is one, must have from 1 to [MaxK] coefficients.
func (c Coefficients) Append(dst []byte) []byte {
	dst = append(dst, byte(len(c.Vector)))
	if c.Vector == nil {
		return binary.BigEndian.AppendUint64(dst, c.Seed)
	}
	return append(dst, c.Vector...)
}

// Parse reads the coefficients for a generation of k source blocks from the
// beginning of b, and returns what comes after them. The vector is part of b. The
// error is [ErrCoefficients].
func Parse(b []byte, k int) (c Coefficients, rest []byte, err error) {
	if len(b) == 0 {
		return c, nil, fmt.Errorf("%w: nothing there", ErrCoefficients)
	}
	n, b := int(b[0]), b[1:]
	switch {
	case n == 0 && len(b) < 8:
		return c, nil, fmt.Errorf("%w: a seed of %d bytes", ErrCoefficients, len(b))
	case n == 0:
		return Coefficients{Seed: binary.BigEndian.Uint64(b)}, b[8:], nil
	case n != k:
		return c, nil, fmt.Errorf("%w: %d for a generation of %d", ErrCoefficients, n, k)
	case len(b) < n:
		return c, nil, fmt.Errorf("%w: %d of %d", ErrCoefficients, len(b), n)
	case zero(b[:n]):
		return c, nil, fmt.Errorf("%w: all zero", ErrCoefficients)
	}
	return Coefficients{Vector: b[:n:n]}, b[n:], nil
}

// Expand writes the vector to v, which must be as long as the generation has
// source blocks.
func (c Coefficients) Expand(v []byte) {
	if c.Vector == nil {
		expand(c.Seed, v)
		return
	}
	copy(v, c.Vector)
}

// Draw fills v with random coefficients that are not all zero.
func Draw(v []byte, rng *rand.Rand) {
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
