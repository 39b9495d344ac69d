package rlnc

import "fmt"

// Solution is a generation that can be decoded. It may be used by any number of
// goroutines.
type Solution struct {
	inverse  [][]byte // the source blocks as sums of the payloads
	payloads sources
}

// Decode writes the source blocks' bytes from off on, as many of each as its dst
// takes. There must be k dst; a source block that is not wanted has none. None may
// overlap the coded blocks. To want eight blocks at once is nearly as fast as all, to
// want one takes twice as long for each. The error is [ErrLength].
func (s *Solution) Decode(dst [][]byte, off int) error {
	if len(dst) != len(s.inverse) {
		return fmt.Errorf("%w: room for %d of %d blocks", ErrLength, len(dst), len(s.inverse))
	}
	// Some source blocks may have come as they are, to be copied only.
	var many, rows [][]byte
	for i, d := range dst {
		if err := s.payloads.check(d, s.inverse[i], off); err != nil {
			return err
		}
		if len(d) == 0 {
			continue
		}
		if terms(s.inverse[i]) < 2 {
			s.payloads.sum(d, s.inverse[i], off)
			continue
		}
		many, rows = append(many, d), append(rows, s.inverse[i])
	}
	return s.payloads.sums(many, rows, off)
}

// terms counts the coefficients that are not zero.
func terms(v []byte) (n int) {
	for _, c := range v {
		if c != 0 {
			n++
		}
	}
	return n
}
