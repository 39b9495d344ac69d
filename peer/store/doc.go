// Package store keeps the bytes of one content where the user wants them, and
// remembers which of its pieces are verified.
//
// Received blocks are written straight into the destination files, in any
// order, so a transfer needs no second copy of the content. A content that is
// shared from where it lies ([Scan], [Seed]) is never written to.
//
// The package does not decide what to fetch, and a store does not hash what it is
// given: whoever calls Commit has checked the piece, by the content's [Verifier]. It
// knows no network.
//
// # Torrents
//
// The content of a torrent may have padding, zeros that are in no file: writes to it
// are dropped. Times that nobody said stay as they come. While only the torrent is
// known, pieces are good by their SHA-1, and the Verifier gathers the SHA-256.
//
// # Holes
//
// On Linux, pieces that lie in holes of their files are known to be zeros without
// being read. The files of a new transfer begin as holes, so its pieces of zeros are
// verified from the start, and what is said below of pieces holds for them too.
//
// # What survives what
//
// Each transfer has a folder of its own state, with one file in it, the
// journal. A piece is written before its record is appended, so:
//
//   - Killing the process loses no committed piece and makes none doubtful: the
//     kernel has both the bytes and the record, in that order.
//   - After a crash of the machine the journal was written under another boot
//     id. Pieces that were not flushed to the disk by then are doubtful: they
//     are likely there and have to be hashed again. There are at most 256 MiB
//     of them and what came in while one flush was running.
//   - A destination file that is missing, has another size, or is not the file
//     that was written takes its pieces with it. When the content is whole,
//     another modification time makes its pieces doubtful.
//
// Where the system tells no boot id, every restart counts as another boot.
//
// # Flushing
//
// The Commit that makes 256 MiB unflushed starts a flush and does not wait for
// it: one goroutine syncs the files written so far, appends a mark that covers
// the records from before the flush, and ends. No piece waits for the disk more
// than the kernel makes it wait.
package store
