package rlnc

// Recoder makes coded blocks from coded blocks, without decoding them. A receiver
// cannot tell them from those of an encoder, but for the rank. It may be used by
// any number of goroutines, and is not touched by what its decoder takes later, so
// that one block can be made in several parts.
type Recoder struct {
	vectors, payloads sources
}

// Rank is how many coded blocks it has, so how many weights a sum takes.
func (r *Recoder) Rank() int { return len(r.vectors.blocks) }

// Vector writes to v the coefficients of the coded block that is the sum of those
// there are with these weights, which [Draw] makes. It allocates nothing. The
// error is [ErrCoefficients] or [ErrLength].
func (r *Recoder) Vector(v, weights []byte) error {
	if err := r.vectors.check(v, weights, 0); err != nil {
		return err
	}
	r.vectors.sum(v, weights, 0)
	return nil
}

// Recode writes to dst the bytes from off on of that block's payload. It allocates
// nothing. The errors are those of Vector.
func (r *Recoder) Recode(dst, weights []byte, off int) error {
	if err := r.payloads.check(dst, weights, off); err != nil {
		return err
	}
	r.payloads.sum(dst, weights, off)
	return nil
}

// RecodeAll does what Recode does for several coded blocks, see [Encoder.EncodeAll].
func (r *Recoder) RecodeAll(dst, weights [][]byte, off int) error {
	return r.payloads.all(dst, weights, off)
}
