// Package coded is the coded form of one content at one node: it gathers the blocks
// of generations, decodes them into verified pieces, makes blocks of what is there,
// and finds out who made false ones. It knows no network, and not who is asked for
// what.
//
// # A generation
//
//	gathering -> decoding -> whole
//	                |          ^
//	                v          |
//	             repairing ----+
//
// Blocks are gathered until k of them are independent, and are passed on as they are
// meanwhile. They are decoded then, each piece is checked against the manifest, and
// what is good is written and committed. A generation that is whole is read from the
// store when blocks of it are to be made; the last few are kept in memory for that.
//
// # False blocks
//
// A coded block cannot be checked by itself: with one that is false, all that is
// decoded is wrong. So every block is signed by the node that made it from verified
// pieces, its encoder, whoever passes it on. Of the blocks of a generation that failed, what their
// encoders said is kept: the hash of each payload, and not the payload. The
// generation is repaired from source blocks, which are checked piece by piece.
// Then the truth is known, and each block's hash is compared with that of what it
// should have been: who signed another is a liar. Nobody honest is named, since an
// honest node signs only what it made of pieces that have their hash, and what it read
// from its disk is hashed again before.
//
// # Memory
//
// A generation takes as many bytes as it has, while it is gathered. To decode it takes as
// many more as source blocks have not come as they are; those that have are not copied.
// Generations under way are as many as whoever asks for blocks begins at a
// time. Those kept for encoding are bounded by [Config]. The memory of blocks is used
// again: garbage would double it. While a generation is
// repaired there is each source block once, and once more for each other version of it
// that somebody signed.
package coded
