package rlnc

import (
	"bytes"
	"errors"
)

// Encoder makes coded blocks of a generation from its source blocks, which must
// not change meanwhile. It may be used by any number of goroutines.
type Encoder struct {
	src sources
}

// NewEncoder takes the source blocks of a generation. The longest is as long as
// coded blocks are; the others count as filled up with zeros.
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

// K is the number of source blocks.
func (e *Encoder) K() int { return len(e.src.blocks) }

// Length is that of a coded block's payload, in bytes.
func (e *Encoder) Length() int { return e.src.length }

// Encode writes to dst the bytes from off on of the coded block with the
// coefficients v. It allocates nothing. The error is [ErrCoefficients] or
// [ErrLength].
func (e *Encoder) Encode(dst, v []byte, off int) error {
	if err := e.src.check(dst, v, off); err != nil {
		return err
	}
	e.src.sum(dst, v, off)
	return nil
}

// EncodeAll does what Encode does for several coded blocks: for each dst with the
// vector at the same place. Four at once cost about as much as two one by one, or
// less; where the source blocks exceed the caches, even one costs less. It
// allocates a few percent of a block's length.
func (e *Encoder) EncodeAll(dst, vectors [][]byte, off int) error {
	return e.src.all(dst, vectors, off)
}

// Made reports whether the payload is that of the coded block with the
// coefficients v: with source blocks that are verified, it tells true coded blocks
// from false ones. The error is as of Encode.
func (e *Encoder) Made(payload, v []byte) (bool, error) {
	if len(payload) != e.src.length {
		return false, ErrLength
	}
	if err := e.src.check(payload, v, 0); err != nil {
		return false, err
	}
	var want [minTile]byte
	for off := 0; off < len(payload); off += len(want) {
		got := payload[off:min(off+len(want), len(payload))]
		e.src.sum(want[:len(got)], v, off)
		if !bytes.Equal(got, want[:len(got)]) {
			return false, nil
		}
	}
	return true, nil
}
