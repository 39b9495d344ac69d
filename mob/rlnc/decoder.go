package rlnc

import "fmt"

// Block is a coded block.
type Block struct {
	Vector, Payload []byte
}

// Decoder gathers coded blocks of a generation until they suffice. One goroutine uses it
// at a time; what it returns may be used by others.
type Decoder struct {
	basis    *Basis
	length   int
	vectors  [][]byte // as they arrived
	payloads [][]byte
	room     []byte // of vectors
}

// NewDecoder makes a decoder for a generation of k source blocks, of which the longest has
// length bytes. It takes 2*k*k bytes besides the payloads that it keeps.
func NewDecoder(k, length int) (*Decoder, error) {
	basis, err := NewBasis(k)
	if err != nil {
		return nil, err
	}
	if length < 1 {
		return nil, fmt.Errorf("coded blocks of %d bytes", length)
	}
	return &Decoder{
		basis:    basis,
		length:   length,
		vectors:  make([][]byte, 0, k),
		payloads: make([][]byte, 0, k),
		room:     make([]byte, 0, k*k),
	}, nil
}

// Add adds a coded block and reports whether it was innovative. If so, the decoder keeps
// the payload itself, which must not change from then on; of the vector it keeps a copy.
// Once there are k, no block is. A source block is a coded block too, with 1 at its place in
// the vector; a shorter one must be filled up with zeros. The error is one of length.
func (d *Decoder) Add(b Block) (innovative bool, err error) {
	if len(b.Payload) != d.length {
		return false, fmt.Errorf("coded block of %d bytes, want %d", len(b.Payload), d.length)
	}
	if innovative, err = d.basis.Add(b.Vector); !innovative {
		return false, err
	}
	from := len(d.room)
	d.room = append(d.room, b.Vector...)
	d.vectors = append(d.vectors, d.room[from:len(d.room):len(d.room)])
	d.payloads = append(d.payloads, b.Payload)
	return true, nil
}

// Innovative reports whether Add would find a block with the coefficients v innovative, so
// before its payload is there. The error is one of length.
func (d *Decoder) Innovative(v []byte) (bool, error) { return d.basis.Innovative(v) }

// Rank is the number of innovative blocks.
func (d *Decoder) Rank() int { return d.basis.Rank() }

// Full reports whether there are k of them, so that they can be decoded.
func (d *Decoder) Full() bool { return d.basis.Full() }

// Block returns the i-th block that Add found innovative: 0 <= i < Rank.
func (d *Decoder) Block(i int) Block { return Block{d.vectors[i], d.payloads[i]} }

// Recoder returns one that makes coded blocks from those there are now. If there are none,
// it makes only zeros, which no receiver finds innovative.
func (d *Decoder) Recoder() Recoder {
	n := d.Rank()
	return Recoder{
		vectors:  sources{d.vectors[:n:n], d.basis.K()},
		payloads: sources{d.payloads[:n:n], d.length},
	}
}

// Solution decodes the blocks. It fails unless the decoder is full.
func (d *Decoder) Solution() (*Solution, error) {
	if !d.Full() {
		return nil, fmt.Errorf("%d innovative blocks of %d", d.Rank(), d.basis.K())
	}
	inverse, err := invert(d.vectors)
	if err != nil {
		return nil, err
	}
	return &Solution{inverse: inverse, payloads: sources{d.payloads, d.length}}, nil
}
