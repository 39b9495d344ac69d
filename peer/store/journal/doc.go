// Package journal records which pieces of one content are verified, across restarts
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
//	|kind| zero |index | a            | b            |number|CRC32C|
//	+----+------+------+--------------+--------------+------+------+
//
//	1 boot    a, b: the boot id of the machine, 0 if it is not known
//	2 commit  index: a piece that is written and verified
//	3 forget  index: a piece that is not there
//	4 doubt   index: a piece that may be there, a: 1 if it was found, not written
//	5 mark    a: commits with a lower number are on the disk
//	6 inode   index: a file, a: its inode number, b: 1 if the transfer created it, 2 if it was
//	          found to be changed; see File
//	7 mtime   of earlier versions, ignored
//	8 whole   every piece is there and on the disk, until the next forget
//	9 stamp   index: a file, a: the time of its last change, b: its inode number
//	10 entry  as inode, index: an empty file, a directory or a link, by its number among all entries
//
// A stamp says that what the records say of the file's pieces is true of the file which has
// that time, in Unix nanoseconds, and number. Without it, or once the file has another, its
// pieces have to be hashed again.
//
// Files are numbered without the empty ones. The number of a record counts records
// from 0. What follows the last readable record is a torn tail, and ignored. An
// unreadable record before that may have withdrawn any piece, so it makes every piece
// committed before it doubtful.
package journal
