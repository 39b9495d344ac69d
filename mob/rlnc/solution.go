package rlnc

import "fmt"

// Solution is a generation that can be decoded. It may be used by any number of
// goroutines.
type Solution struct {
	inverse  [][]byte // the source blocks as sums of the payloads
	payloads sources
}

// Decode writes the source blocks, or as much of each as its dst takes. There must be k
// dst, which do not overlap the coded blocks; that of a source block that is not wanted is
// empty. To decode eight blocks at once is nearly as fast as all, to decode one takes twice
// as long for each. The error is one of length.
func (s *Solution) Decode(dst [][]byte) error {
	if len(dst) != len(s.inverse) {
		return fmt.Errorf("room for %d of %d blocks", len(dst), len(s.inverse))
	}
	// Some source blocks may have arrived as they are: they are only copied.
	var many, rows [][]byte
	for i, d := range dst {
		if err := s.payloads.check(d, s.inverse[i]); err != nil {
			return err
		}
		if len(d) == 0 {
			continue
		}
		if terms(s.inverse[i]) < 2 {
			s.payloads.sum(d, s.inverse[i])
			continue
		}
		many, rows = append(many, d), append(rows, s.inverse[i])
	}
	return s.payloads.sums(many, rows)
}

// terms counts the coefficients that are not zero.
func terms(v []byte) int {
	n := 0
	for _, c := range v {
		if c != 0 {
			n++
		}
	}
	return n
}
