package store

import (
	"errors"
	"fmt"
	"io"

	"github.com/mobgrid/mob/proto"
)

// Store holds the bytes of the content of a transfer and records which of its pieces are
// verified. It is the only owner of that record: pieces that it has may be served.
//
// Offsets are in the content's stream: its files, joined in the order of the
// manifest. All methods may be called from several goroutines; reads and writes of
// different ranges do not wait for each other.
type Store interface {
	// ReadAt reads across files. Bytes of pieces that are not verified are
	// arbitrary. A file that is too short is an error that wraps
	// [io.ErrUnexpectedEOF], never zeros.
	io.ReaderAt
	// WriteAt writes across files. It fails with [ErrVerified] on a verified
	// piece, and with [ErrReadOnly] if the content is published or seeded. Writes to
	// padding are dropped: padding reads as zeros and is in no file. Errors of
	// the system are wrapped: errors.Is(err, syscall.ENOSPC) reports a full disk.
	io.WriterAt

	// Has reports whether a piece is verified, which it is once Commit has
	// recorded it. It is false for numbers out of range. It does not block.
	Has(piece int) bool
	// Count returns the number of verified pieces. It does not block.
	Count() int
	// Commit records that a piece is written and verified. Call it after the last
	// WriteAt of the piece has returned. Committing a piece again does nothing.
	// Commit makes one small write and does not wait for the disk.
	Commit(piece int) error
	// Forget records that a piece failed a later check. Has is false immediately, even
	// if Forget fails. It then waits for the disk, so that the piece is not
	// trusted after a crash. From then on the content is not complete, and can be written
	// to and published again, unless it is seeded.
	Forget(piece int) error

	// Publish makes all entries as the manifest describes them, once every piece is
	// committed: sizes, modes, times, empty files, directories and links. From
	// then on the content is read-only, until a piece is forgotten. It does not wait for the bytes to reach
	// the disk. It fails with [ErrNotWhole] if pieces are missing. Publishing again
	// does nothing.
	Publish() error
	// Finish publishes the content, waits until all of it is on the disk, which
	// can take long, and records that. Finishing again does nothing.
	Finish() error
	// Close releases the store, whole or not. It waits for a flush that is
	// running but starts none.
	io.Closer
}

var (
	_ Store = (*Disk)(nil)
	_ Store = (*Single)(nil)
)

var errNegativeOffset = errors.New("negative offset")

// checkPiece returns an error if m has no such piece.
func checkPiece(m *proto.Manifest, piece int) error {
	if piece < 0 || piece >= m.Pieces() {
		return fmt.Errorf("piece %d out of range: the content has %d", piece, m.Pieces())
	}
	return nil
}
