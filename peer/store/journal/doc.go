// Package journal records which pieces of the content are verified, across restarts
// and crashes.
//
// A journal is an append-only file, and in memory what its records add up to. It is
// safe because of how package store uses it: a piece is written before it is
// committed, and flushed before it is marked. This package touches no other file.
//
// # Format
//
// All numbers are little endian. The header is 64 bytes:
//
//	0        8        12       16                         48       60     64
//	+--------+--------+--------+--------------------------+--------+------+
//	|mobstore|version |flags   | SHA-256 of the manifest  | zero   |CRC32C|
//	+--------+--------+--------+--------------------------+--------+------+
//
// Flag 1 is set if the content is seeded in place. Records of 32 bytes follow:
//
//	0    1      4      8              16             24     28     32
//	+----+------+------+--------------+--------------+------+------+
//	|kind|flags |index | a            | b            |number|CRC32C|
//	+----+------+------+--------------+--------------+------+------+
//
//	1 boot    a, b: the boot id of the machine, 0 if it is not known or a flush failed
//	2 commit  index: a piece that is written and verified
//	3 forget  index: a piece that is not there
//	5 mark    a: commits with a lower number are on the disk; flags: 1 if every piece is
//	          verified and on the disk
//	11 file   index: an entry, a: the time of its last change, b: its inode number; flags: 1 if the
//	          transfer created it, 2 if it was changed since it was stamped, 4 if another program
//	          put it there, 8 if it was published, 16 if its verified pieces have to be hashed
//	          again, 32 if all pieces have, of a file that is older than the transfer, 64 if a is the time
//	          when the file was created. That holds for later records with the same inode number
//
// The time and the inode number are the stamp of a file: the records of its pieces hold
// for the file with that stamp. Once it has another, they have to be hashed again. The time is
// in Unix nanoseconds, and 0 while the file is written to.
//
// Entries are numbered as in the manifest; the root is the last one. The number of a record counts
// records from 0. What follows the last readable record is a torn tail, and ignored. An
// unreadable record before that may have withdrawn any piece, so it makes every piece
// committed before it unverified.
//
// Journals of version 1 are rewritten when they are opened.
package journal
