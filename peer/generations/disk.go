package generations

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mobgrid/mob/peer/store"
)

// Ledger knows which pieces are verified and committed. Its methods may be called
// from any goroutine, and do not block.
type Ledger interface {
	Has(piece uint32) bool
	Add(piece uint32)
}

// Disk is what is stored of a content. Safe for concurrent use.
type Disk struct {
	Layout
	Store store.Store
	// Ledger is asked which pieces are verified, and told of those that are.
	Ledger Ledger
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
		if !d.Ledger.Has(uint32(i)) {
			return false
		}
	}
	return first < end
}

// Good says whether a piece is what the manifest says.
func (d *Disk) Good(piece int, b []byte) bool {
	return sha256.Sum256(b) == d.Manifest.Hash(piece)
}

// StorePiece stores a piece that is good, unless it is there.
func (d *Disk) StorePiece(piece int, b []byte) error {
	if d.Ledger.Has(uint32(piece)) {
		return nil
	}
	if _, err := d.Store.WriteAt(b, d.Manifest.PieceOffset(piece)); err != nil {
		return err
	}
	if err := d.Store.Commit(piece); err != nil {
		return err
	}
	d.Ledger.Add(uint32(piece))
	return nil
}

// ReadPiece reads a verified piece to the beginning of b, and checks it again: blocks
// made of what a disk has turned into would be lies. The error is a [*DamagedError].
func (d *Disk) ReadPiece(b []byte, piece int) error {
	b = b[:d.Manifest.PieceSize(piece)]
	if _, err := d.Store.ReadAt(b, d.Manifest.PieceOffset(piece)); err != nil {
		return &DamagedError{piece, err}
	}
	if !d.Good(piece, b) {
		return &DamagedError{piece, errChanged}
	}
	return nil
}

// Read reads a whole generation to the beginning of b, as ReadPiece does.
func (d *Disk) Read(b []byte, generation int) error {
	for piece, end := d.Pieces(generation); piece < end; piece++ {
		if err := d.ReadPiece(b, piece); err != nil {
			return err
		}
		b = b[d.Manifest.PieceSize(piece):]
	}
	return nil
}
