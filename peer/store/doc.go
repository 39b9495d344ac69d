// Package store keeps the bytes of the content of a transfer in the user's files, or in memory, and
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
// get. Pieces are verified by their SHA-1 if only the torrent is known.
//
// # Holes
//
// On Linux, a piece that lies in holes of sparse files is known to be zeros without
// being read. The files of a new transfer start as holes, so its pieces of zeros are
// verified from the start. Elsewhere they are ordinary pieces.
//
// # Crashes
//
// Each transfer has a state directory with a journal, and with the bytes of left-out files that
// pieces share with other files. A piece is written before its record is appended. Therefore:
//
//   - Each file has a record with a state, see fileState. It is stamped when it is closed, and
//     when all of it is verified and flushed: the journal has its inode number and the time of
//     its last change, which no program can set. Pieces of a file that differs from its stamp are unverified: they are likely there,
//     but have to be hashed again. So is every piece of the files that were being written when
//     the process was killed, of those that another program has changed, even if it has
//     put their times back, and of those that were restored from a snapshot.
//   - A stamp is recorded before all pieces of the file are read, or after the store itself has written them. Later changes have
//     another stamp, since the store waits for the clock's next tick.
//   - After a crash of the machine, the journal was written under another boot
//     id. Pieces that had not been flushed by then are unverified too.
//   - Pieces of a file that is missing are missing. The journal keeps them until a file is
//     created in its place: it may be on a file system that is not mounted. Without any of the
//     files, [Open] fails with [ErrGone].
//
// On systems without a boot id, every restart counts as another boot.
//
// # Flushing
//
// The Commit that exceeds 256 MiB of unflushed pieces starts a flush and does not wait
// for it. One goroutine syncs the files written so far, then appends a mark that covers
// the records from before the flush. Commit itself never waits for the disk.
//
// After a flush or the closing of a file has failed, the pieces that were not known to be
// on the disk are unverified, and the store takes no more until it is opened again.
//
// # The user's files
//
// A store writes to files, replaces links and sets the modes of entries that it created, or that [Adopt] or [Disk.TakeOver] found:
// the journal has their inode numbers, and the times when they were created. It creates a file only where there is none. [Remove]
// deletes only what the store created and no other program has changed.
//
// # Other names
//
// A file with other names is copied before the first write to it, and the copy takes its
// place: the file with the other names does not change. Two names of the content that the file
// system takes for one are an [AliasError].
//
// # Repair
//
// Content that was complete and lost a piece is written to and published again, unless it is
// seeded in place.
package store
