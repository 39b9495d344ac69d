package store

import "io"

// Store is the bytes of one content and the record of its verified pieces.
// Offsets are those of the content's stream, its files joined in the order of
// the manifest. All methods may be called from several goroutines; reads and
// writes of different ranges do not wait for each other.
type Store interface {
	// ReadAt reads across files. It is the caller's duty to ask only for
	// pieces that are verified, or to check what comes back: the bytes of
	// others are whatever is there. A file that ends too soon is an error
	// that wraps [io.ErrUnexpectedEOF], never zeros.
	io.ReaderAt
	// WriteAt writes across files. It refuses with [ErrVerified] to touch a
	// verified piece, and with [ErrReadOnly] when the content is whole or
	// seeded. What is written to padding is dropped: it reads as zeros, and is in
	// no file. Errors of the system come back wrapped: errors.Is(err,
	// syscall.ENOSPC) tells a full disk.
	io.WriterAt
	Ledger
	// Close ends the use of the store, whole or not. It waits for a running
	// flush but starts none.
	io.Closer
}

// Ledger is the record of which pieces are verified.
type Ledger interface {
	// Commit records that a piece is written and verified. It is called after
	// the piece's last WriteAt has returned. Committing again does nothing. It
	// makes one small write and does not wait for the disk.
	Commit(piece int) error
	// Forget records that a piece failed a later check: it is not there. It
	// waits for the disk, so that the piece is not trusted after a crash.
	Forget(piece int) error
	// Publish makes the content exactly what the manifest says, once every piece
	// is committed: sizes, modes, times, empty files and folders, links. From then
	// on it takes no writes. It does not wait for the disk. With pieces missing it
	// fails with [ErrNotWhole]. It may be called again.
	Publish() error
	// Finish publishes the content and waits until all of it is on the disk,
	// which can take long; the record then says so. Finishing again does nothing.
	Finish() error
}

var (
	_ Store = (*Disk)(nil)
	_ Store = (*Memory)(nil)
)
