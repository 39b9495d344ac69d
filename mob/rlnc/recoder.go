package rlnc

// Recoder makes coded blocks from coded blocks, without decoding them. A receiver cannot
// tell them from those of an encoder, but for the rank. It may be used by any number of
// goroutines, and what its decoder adds later does not change it.
type Recoder struct {
	vectors, payloads sources
}

// Rank is the number of coded blocks, so of the weights of a sum.
func (r *Recoder) Rank() int { return len(r.vectors.blocks) }

// Vector writes to v the coefficients of the coded block that is the sum of the blocks with
// these weights. It allocates nothing. The error is one of length.
func (r *Recoder) Vector(v, weights []byte) error { return r.vectors.sum(v, weights) }

// Recode writes to dst the payload of that block, or as much of it as dst takes. It
// allocates nothing. The error is one of length.
func (r *Recoder) Recode(dst, weights []byte) error { return r.payloads.sum(dst, weights) }
