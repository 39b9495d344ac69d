package rlnc

import "errors"

// Encoder makes coded blocks of a generation from its source blocks. It may be used by any
// number of goroutines.
type Encoder struct {
	src sources
}

// NewEncoder takes the source blocks of a generation, which must not change from then on.
// Coded blocks are as long as the longest.
func NewEncoder(blocks [][]byte) (*Encoder, error) {
	if err := CheckK(len(blocks)); err != nil {
		return nil, err
	}
	e := &Encoder{sources{blocks: blocks}}
	for _, b := range blocks {
		e.src.length = max(e.src.length, len(b))
	}
	if e.src.length == 0 {
		return nil, errors.New("a generation of empty blocks")
	}
	return e, nil
}

// Encode writes to dst the coded block with the coefficients v, or as much of it as dst
// takes. It allocates nothing. The error is one of length.
func (e *Encoder) Encode(dst, v []byte) error { return e.src.sum(dst, v) }
