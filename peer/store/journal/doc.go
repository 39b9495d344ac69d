// Package journal remembers, across restarts and crashes, which pieces of one
// content are verified.
//
// A journal is a file that only grows, plus what its records add up to, which is
// kept in memory. The rules that make it safe are those of its user, package
// store: a piece is written before it is committed, and flushed before it is
// marked. This package looks at no other file.
//
// # The file
//
// All numbers are little endian. The header is 64 bytes:
//
//	0        8        12       16                         48       60     64
//	+--------+--------+--------+--------------------------+--------+------+
//	|mobstore|version |flags   | SHA-256 of the manifest  | zero   |CRC32C|
//	+--------+--------+--------+--------------------------+--------+------+
//
// Flag 1 says that the content is seeded in place. Then come records of 32 bytes:
//
//	0    1      4      8              16             24     28     32
//	+----+------+------+--------------+--------------+------+------+
//	|kind| zero |index | a            | b            |number|CRC32C|
//	+----+------+------+--------------+--------------+------+------+
//
//	1 boot    a, b: the boot id of the machine, 0 when it is not known
//	2 commit  index: a piece that is written and verified
//	3 forget  index: a piece that is not there
//	4 doubt   index: a piece that may be there
//	5 mark    a: commits with a number below it are on the disk
//	6 inode   index: a file with content, a: its inode number
//	7 mtime   index: a file with content, a: the time to expect, where it is not the manifest's
//	8 whole   every piece is there and on the disk
//
// The number of a record counts them from 0. Whatever follows the last readable
// record is a torn tail and is dropped. An unreadable record before that makes
// every piece committed before it doubtful, since it may have said so.
package journal
