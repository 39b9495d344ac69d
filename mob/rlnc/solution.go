package rlnc

import "fmt"

// Solution is a generation that can be decoded. It may be used by any number of
// goroutines.
type Solution struct {
	inverse  [][]byte // the source blocks as sums of the payloads
	payloads sources
}

// Decode writes the source blocks, or as much of each as its dst takes. There must be k dst, which do not overlap the coded
// blocks; the dst is empty if the source block is not wanted. The error is one of length.
func (s *Solution) Decode(dst [][]byte) error {
	if len(dst) != len(s.inverse) {
		return fmt.Errorf("room for %d of %d blocks", len(dst), len(s.inverse))
	}
	for i, d := range dst {
		if err := s.payloads.check(d, s.inverse[i]); err != nil {
			return err
		}
	}
	s.payloads.sums(dst, s.inverse)
	return nil
}
