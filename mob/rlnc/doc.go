// Package rlnc is random linear network coding over GF(2^8), as Cooper uses it (section
// 2.1): of a generation of k source blocks, any k coded blocks that are linearly
// independent rebuild it, so nobody needs to know who has what.
//
// A coded block is a sum of the source blocks, each multiplied by a coefficient: a payload
// as long as a block, and a vector of k coefficients. An [Encoder] makes coded blocks from
// source blocks. A [Decoder] takes coded blocks as they arrive and keeps those that are
// innovative, which is to say independent of what it has. A [Recoder] makes new coded
// blocks from those before they suffice. When there are k, a [Solution] makes the source
// blocks. A [Basis] is a decoder without payloads, for a simulator.
//
// # Where the work is
//
// Adding a coded block takes microseconds, since only its vector is eliminated; the payload
// stays as it is, in the caller's buffer. What reads payloads ([Encoder.Encode],
// [Recoder.Recode], [Solution.Decode]) may run in any number of goroutines at once. A Basis
// and a Decoder belong to one goroutine at a time; all else is only read after it is made.
// Nothing here has a lock or starts a goroutine.
//
// Making one block allocates nothing. Decoding reads the coded blocks once for several
// source blocks, and takes about half the time for each, or less; it allocates rows of
// coefficients, and a kilobyte for each 4 to 32 KiB of the blocks' length.
//
// # Bounds
//
// A generation has from 1 to [MaxK] source blocks. A block may be shorter than others, as
// the last piece of a content is: it counts as filled up with zeros to the length of coded
// blocks, without being copied.
//
// Vectors and payloads of the wrong length are errors. A block that is not innovative, such
// as one of zeros, or any for a generation that is full, is no error. Whether a payload
// belongs to its vector shows only when the decoded blocks are verified.
//
// # Coefficients
//
// The coefficients of a coded block can be expanded from a seed of 64 bits by SplitMix64:
// for each eight coefficients, add 0x9e3779b97f4a7c15 to the state, which begins as the
// seed; then z = state, z = (z ^ z>>30) * 0xbf58476d1ce4e5b9,
// z = (z ^ z>>27) * 0x94d049bb133111eb, z = z ^ z>>31, all modulo 2^64; the coefficients are
// the bytes of z, the lowest first, of which the last z may have too many. If all k are
// zero, the next k are made in the same way, beginning with the next z. [Named] has a name
// of the block as the seed.
//
// The field is that of Reed-Solomon codes: polynomials over GF(2) modulo
// x^8 + x^4 + x^3 + x^2 + 1 (0x11d).
package rlnc
