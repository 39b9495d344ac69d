// Package store keeps the bytes of one content in the user's files, or in memory, and
// records which of its pieces are verified.
//
// Received blocks are written straight to the destination, in any order, so a
// transfer needs no second copy of the content. Content that is seeded in place
// ([Scan], [Seed]) is never written to.
//
// A store does not decide what to fetch, knows no network, and does not hash what it is
// given: the caller of Commit has verified the piece with the content's [Verifier].
//
// # Torrents
//
// The content of a torrent may have padding: zeros that are in no file. Writes to
// it are dropped. Files without a modification time in the manifest keep the one they
// get. While only the torrent is known, pieces are verified by their SHA-1, and the
// Verifier collects their SHA-256.
//
// # Holes
//
// On Linux, a piece that lies in holes of sparse files is known to be zeros without
// being read. The files of a new transfer start as holes, so its pieces of zeros are
// verified from the start. Otherwise they are pieces like all others.
//
// # Crashes
//
// Each transfer has a state directory with one file, the journal. A piece is written
// before its record is appended. Therefore:
//
//   - Killing the process loses no committed piece and makes none doubtful: the
//     kernel has the bytes and the record, in that order.
//   - After a crash of the machine, the journal was written under another boot
//     id. Pieces that had not been flushed by then are doubtful: they are likely
//     there, but have to be hashed again. These are at most 256 MiB, and what was
//     committed while one flush was running.
//   - A destination file that is missing, has another size, or is another file than
//     the one written to, takes its pieces with it. Once the content is whole,
//     another modification time makes its pieces doubtful.
//
// On systems without a boot id, every restart counts as another boot.
//
// # Flushing
//
// The Commit that exceeds 256 MiB of unflushed pieces starts a flush and does not wait
// for it. One goroutine syncs the files written so far, then appends a mark that covers
// the records from before the flush. Commit itself never waits for the disk.
package store
