package coded

import (
	"errors"
	"fmt"

	"github.com/mobgrid/mob/peer/store"
)

// disk reads and writes generations in a store. Safe for concurrent use.
type disk struct {
	layout
	verifier *store.Verifier
	Store    store.Store
}

// damagedError reports a verified piece that cannot be read or fails its hash now.
type damagedError struct {
	Piece int
	Err   error
}

func (e *damagedError) Error() string { return fmt.Sprintf("piece %d: %v", e.Piece, e.Err) }

// Unwrap returns the cause.
func (e *damagedError) Unwrap() error { return e.Err }

// Has reports whether all pieces of a generation are verified and stored.
func (d *disk) Has(generation int) bool {
	first, end := d.Pieces(generation)
	for i := first; i < end; i++ {
		if !d.Store.Has(i) {
			return false
		}
	}
	return first < end
}

// StorePiece writes and commits a good piece, joined from parts, unless it is stored.
func (d *disk) StorePiece(piece int, parts ...[]byte) error {
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

// ReadPiece reads a verified piece into parts and checks it again, since a block made of
// damaged bytes would pollute the swarm. It fails with *damagedError.
func (d *disk) ReadPiece(piece int, parts ...[]byte) error {
	at := d.Manifest.PieceOffset(piece)
	for _, b := range parts {
		if _, err := d.Store.ReadAt(b, at); err != nil {
			return &damagedError{piece, err}
		}
		at += int64(len(b))
	}
	if !d.verifier.Good(piece, parts...) {
		return &damagedError{piece, errors.New("piece failed its hash")}
	}
	return nil
}

// Read reads a whole generation into its source blocks, as ReadPiece does. Bytes beyond
// the end of the content are zeros.
func (d *disk) Read(generation int, blocks [][]byte) error {
	for piece, end := d.Pieces(generation); piece < end; piece++ {
		if err := d.ReadPiece(piece, d.Parts(piece, blocks)...); err != nil {
			return err
		}
	}
	d.Pad(generation, blocks)
	return nil
}

// StoreGood stores those pieces of a generation's source blocks that are good, and
// reports whether all are.
func (d *disk) StoreGood(generation int, blocks [][]byte) (all bool, err error) {
	all = true
	for piece, end := d.Pieces(generation); piece < end; piece++ {
		if parts := d.Parts(piece, blocks); !d.verifier.Good(piece, parts...) {
			all = false
		} else if err := d.StorePiece(piece, parts...); err != nil {
			return false, err
		}
	}
	return all, nil
}
