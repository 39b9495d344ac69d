package collective

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Op merges src into dst and returns it. It must be associative and commutative. Elem is the size of the
// elements of equally long vectors that merge one by one, or 0 if values can only be merged entire.
// Merge may change dst, and must not keep src.
type Op struct {
	Elem  int
	Merge func(dst, src []byte) ([]byte, error)
}

// Operations on vectors of 8-byte little-endian numbers.
//
//nolint:gochecknoglobals // constants
var (
	SumFloat64 = Op{Elem: 8, Merge: each(func(a, b uint64) uint64 {
		return math.Float64bits(math.Float64frombits(a) + math.Float64frombits(b))
	})}
	MaxFloat64 = Op{Elem: 8, Merge: each(func(a, b uint64) uint64 {
		return math.Float64bits(max(math.Float64frombits(a), math.Float64frombits(b)))
	})}
	SumInt64 = Op{Elem: 8, Merge: each(func(a, b uint64) uint64 { return a + b })}
)

// each returns a Merge that merges 8-byte elements one by one.
func each(merge func(a, b uint64) uint64) func(dst, src []byte) ([]byte, error) {
	return func(dst, src []byte) ([]byte, error) {
		if len(dst) != len(src) || len(dst)%8 != 0 {
			return nil, fmt.Errorf("merge of %d and %d bytes: want equal multiples of 8", len(dst), len(src))
		}
		for i := 0; i < len(dst); i += 8 {
			a, b := binary.LittleEndian.Uint64(dst[i:]), binary.LittleEndian.Uint64(src[i:])
			binary.LittleEndian.PutUint64(dst[i:], merge(a, b))
		}
		return dst, nil
	}
}
