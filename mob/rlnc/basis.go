package rlnc

import (
	"fmt"
	"math/rand/v2"

	"github.com/klauspost/reedsolomon"
)

// Basis is what a node has of a generation, by coefficients alone: the vectors that it can
// make, kept by progressive Gaussian elimination. It takes about k*k bytes, and none when
// it is full. One goroutine uses it at a time.
type Basis struct {
	k, rank int
	// rows is a matrix in echelon form, a row for each column: zeros up to the column,
	// there 1, and anything behind; or zeros altogether. After the last row comes one to
	// work in. Nil when the basis is full.
	rows   []byte
	stride int
}

// NewBasis makes the basis of a node that has nothing of a generation of k blocks.
func NewBasis(k int) (*Basis, error) {
	if err := CheckK(k); err != nil {
		return nil, err
	}
	stride := (k + 31) &^ 31 // the kernels take 32 bytes at a time, and a rest one by one
	return &Basis{k: k, rows: make([]byte, (k+1)*stride), stride: stride}, nil
}

// FullBasis makes the basis of a node that has all k blocks of a generation.
func FullBasis(k int) (*Basis, error) {
	if err := CheckK(k); err != nil {
		return nil, err
	}
	return &Basis{k: k, rank: k}, nil
}

// K is the number of source blocks.
func (b *Basis) K() int { return b.k }

// Rank is the number of independent vectors.
func (b *Basis) Rank() int { return b.rank }

// Full reports whether the rank is k: everything can be decoded.
func (b *Basis) Full() bool { return b.rank == b.k }

// Add adds a vector and reports whether it was innovative: whether the rank grew. The error
// is one of length.
func (b *Basis) Add(v []byte) (innovative bool, err error) {
	column, err := b.reduce(v)
	if err != nil || column == b.k {
		return false, err
	}
	rest, from := b.row(b.k), column&^31
	var field reedsolomon.LowLevel
	field.GalMulSlice(reedsolomon.Inv(rest[column]), rest[from:], b.row(column)[from:])
	if b.rank++; b.Full() {
		b.rows = nil
	}
	return true, nil
}

// Innovative reports whether Add would find the vector innovative.
func (b *Basis) Innovative(v []byte) (bool, error) {
	column, err := b.reduce(v)
	return err == nil && column < b.k, err
}

// reduce subtracts from v, in the row to work in, what the basis has of it, up to the first
// column that the basis has no row for. It returns that column, or k when nothing is left
// of v.
func (b *Basis) reduce(v []byte) (column int, err error) {
	if len(v) != b.k {
		return 0, fmt.Errorf("%d coefficients for a generation of %d", len(v), b.k)
	}
	if b.Full() {
		return b.k, nil
	}
	var field reedsolomon.LowLevel
	rest := b.row(b.k)
	copy(rest, v)
	for column := range b.k {
		c := rest[column]
		if c == 0 {
			continue
		}
		row, from := b.row(column), column&^31
		if row[column] == 0 {
			return column, nil
		}
		field.GalMulSliceXor(c, row[from:], rest[from:])
	}
	return b.k, nil
}

// Combine writes to v, which has room for k, a random vector of those that a node with this
// basis can make, zero aside, each as likely as any other: the vector of a recoded block.
// It does nothing while the rank is 0.
func (b *Basis) Combine(v []byte, rng *rand.Rand) {
	v = v[:b.k]
	switch {
	case b.Full():
		draw(v, rng)
		return
	case b.rank == 0:
		return
	}
	var field reedsolomon.LowLevel
	var weights [MaxK]byte
	draw(weights[:b.rank], rng)
	clear(v)
	n := 0
	for column := range b.k {
		if row := b.row(column); row[column] != 0 {
			field.GalMulSliceXor(weights[n], row[column:b.k], v[column:])
			n++
		}
	}
}

func (b *Basis) row(i int) []byte { return b.rows[i*b.stride : (i+1)*b.stride] }
