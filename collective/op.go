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
	SumFloat64 = Op{Elem: 8, Merge: func(dst, src []byte) ([]byte, error) {
		err := checkVectors(dst, src)
		for d := dst; err == nil && len(d) >= 8 && len(src) >= 8; d, src = d[8:], src[8:] {
			putFloat64(d, float64At(d)+float64At(src))
		}
		return dst, err
	}}
	MaxFloat64 = Op{Elem: 8, Merge: func(dst, src []byte) ([]byte, error) {
		err := checkVectors(dst, src)
		for d := dst; err == nil && len(d) >= 8 && len(src) >= 8; d, src = d[8:], src[8:] {
			putFloat64(d, max(float64At(d), float64At(src)))
		}
		return dst, err
	}}
	SumInt64 = Op{Elem: 8, Merge: func(dst, src []byte) ([]byte, error) {
		err := checkVectors(dst, src)
		for d := dst; err == nil && len(d) >= 8 && len(src) >= 8; d, src = d[8:], src[8:] {
			binary.LittleEndian.PutUint64(d, binary.LittleEndian.Uint64(d)+binary.LittleEndian.Uint64(src))
		}
		return dst, err
	}}
)

func float64At(b []byte) float64     { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
func putFloat64(b []byte, x float64) { binary.LittleEndian.PutUint64(b, math.Float64bits(x)) }

func checkVectors(dst, src []byte) error {
	if len(dst) != len(src) || len(dst)%8 != 0 {
		return fmt.Errorf("merge of %d and %d bytes: want equal multiples of 8", len(dst), len(src))
	}
	return nil
}
