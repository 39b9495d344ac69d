package generations

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mobgrid/mob/peer/store"
)

// Disk is what is stored of a content. Safe for concurrent use.
type Disk struct {
	Layout
	// Store knows which pieces are verified.
	Store store.Store
}

// ErrAbsent says that a block is not there, and cannot be made.
var ErrAbsent = errors.New("the block is not here")

// DamagedError says that a piece which was verified is not what it was.
type DamagedError struct {
	Piece int
	Err   error
}

// Error implements error.
func (e *DamagedError) Error() string { return fmt.Sprintf("piece %d: %v", e.Piece, e.Err) }

// Unwrap gives the cause.
func (e *DamagedError) Unwrap() error { return e.Err }

var errChanged = errors.New("its hash has changed")

// Has says whether a generation is whole: verified and stored.
func (d *Disk) Has(generation int) bool {
	first, end := d.Pieces(generation)
	for i := first; i < end; i++ {
		if !d.Store.Has(i) {
			return false
		}
	}
	return first < end
}

// Good says whether a piece, in so many parts, is what the manifest says.
func (d *Disk) Good(piece int, parts ...[]byte) bool {
	h := sha256.New()
	for _, b := range parts {
		h.Write(b)
	}
	var sum [sha256.Size]byte
	return [sha256.Size]byte(h.Sum(sum[:0])) == d.Manifest.Hash(piece)
}

// StorePiece stores a piece that is good, in so many parts, unless it is there.
func (d *Disk) StorePiece(piece int, parts ...[]byte) error {
	if d.Store.Has(piece) {
		return nil
	}
	at := d.Manifest.PieceOffset(piece)
	for _, b := range parts {
		if _, err := d.Store.WriteAt(b, at); err != nil {
			return err
		}
		at += int64(len(b))
	}
	return d.Store.Commit(piece)
}

// ReadPiece reads a verified piece in parts, and checks it again: blocks made of what a
// disk has turned into would be lies. The error is a [*DamagedError].
func (d *Disk) ReadPiece(piece int, parts ...[]byte) error {
	at := d.Manifest.PieceOffset(piece)
	for _, b := range parts {
		if _, err := d.Store.ReadAt(b, at); err != nil {
			return &DamagedError{piece, err}
		}
		at += int64(len(b))
	}
	if !d.Good(piece, parts...) {
		return &DamagedError{piece, errChanged}
	}
	return nil
}

// Read reads a whole generation into its source blocks, as ReadPiece does. What lies
// behind the end of the content is zeros.
func (d *Disk) Read(generation int, blocks [][]byte) error {
	for piece, end := d.Pieces(generation); piece < end; piece++ {
		if err := d.ReadPiece(piece, d.Parts(piece, blocks)...); err != nil {
			return err
		}
	}
	d.Pad(generation, blocks)
	return nil
}

// StoreGood stores the pieces of a generation that are good, of its source blocks, and
// says whether all are.
func (d *Disk) StoreGood(generation int, blocks [][]byte) (all bool, err error) {
	all = true
	for piece, end := d.Pieces(generation); piece < end; piece++ {
		if parts := d.Parts(piece, blocks); !d.Good(piece, parts...) {
			all = false
		} else if err := d.StorePiece(piece, parts...); err != nil {
			return false, err
		}
	}
	return all, nil
}
