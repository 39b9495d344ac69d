package collective

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Op merges src into dst and returns it. It must be associative and commutative. Empty values are not merged. Elem is the size of the
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
	SumFloat64 = vectorOp(func(dst, src []byte) {
		for ; len(dst) >= 8 && len(src) >= 8; dst, src = dst[8:], src[8:] {
			putFloat64(dst, float64At(dst)+float64At(src))
		}
	})
	MaxFloat64 = vectorOp(func(dst, src []byte) {
		for ; len(dst) >= 8 && len(src) >= 8; dst, src = dst[8:], src[8:] {
			putFloat64(dst, max(float64At(dst), float64At(src)))
		}
	})
	SumInt64 = vectorOp(func(dst, src []byte) {
		for ; len(dst) >= 8 && len(src) >= 8; dst, src = dst[8:], src[8:] {
			binary.LittleEndian.PutUint64(dst, binary.LittleEndian.Uint64(dst)+binary.LittleEndian.Uint64(src))
		}
	})
)

func float64At(b []byte) float64     { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
func putFloat64(b []byte, x float64) { binary.LittleEndian.PutUint64(b, math.Float64bits(x)) }

// vectorOp returns the operation that merges vectors of the same length.
func vectorOp(merge func(dst, src []byte)) Op {
	return Op{Elem: 8, Merge: func(dst, src []byte) ([]byte, error) {
		if len(dst) != len(src) || len(dst)%8 != 0 {
			return dst, fmt.Errorf("merge of %d and %d bytes: want equal multiples of 8", len(dst), len(src))
		}
		merge(dst, src)
		return dst, nil
	}}
}
