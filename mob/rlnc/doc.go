// Package rlnc is random linear network coding over GF(2^8), as Cooper uses it
// (section 2.1): of a generation of k source blocks, any k coded blocks that are
// linearly independent rebuild it, so nobody needs to know who has what. It
// knows nothing of swarms, pieces and connections.
//
// A coded block is a sum of the source blocks, each multiplied by a coefficient:
// a payload as long as a block, and a vector of k coefficients. An [Encoder]
// makes coded blocks from source blocks. A [Decoder] takes coded blocks as they
// come and keeps those that are innovative, which is to say independent of what
// it has. A [Recoder] makes new coded blocks from those before they suffice. When
// there are k, a [Solution] has the source blocks. A [Basis] is a decoder without
// payloads: it tells what is innovative by the vectors alone, for a scheduler, and
// for a simulator.
//
// # Where the work is
//
// Taking a coded block costs a few microseconds, since only its vector is
// eliminated; the payload stays as it is, in the caller's buffer. Everything that
// touches payloads ([Encoder.Encode], [Recoder.Recode], [Solution.Decode]) may run
// anywhere and several times at once, on parts of blocks as well, so that all
// cores can work on one generation, and a block can be sent while it is made.
// Nothing here has a lock or starts a goroutine: a Basis and a Decoder belong to
// one goroutine at a time, all else is read only after it is made.
//
// Making or remaking one block allocates nothing. Making several with one call
// reads the sources once for all of them and takes about half the time for each, or
// less, as does decoding; that allocates rows of coefficients for the call, and a
// kilobyte for each 4 to 32 KiB of the blocks' length, whatever their number.
//
// # Bounds
//
// A generation has from 1 to [MaxK] source blocks. A block may be shorter than
// others, as a content's last piece is: it counts as filled up with zeros to the
// generation's block length, without being copied. Coded blocks always have the
// full length, and whoever decodes asks for as many bytes of each as it has.
//
// What comes from peers never panics: vectors and payloads of the wrong length are
// errors, and so are vectors of zeros on the wire. A block that is not innovative,
// such as any for a generation that is complete, is no error. Whether a payload is
// what its vector says shows only when the decoded blocks are checked; then
// [Encoder.Made] tells which coded blocks were false.
//
// # Coefficients on the wire
//
// Byte order is big endian. The first byte says how many coefficients follow;
// none stands for a seed, from which both ends expand them, so that a block made
// from source blocks takes 9 bytes whatever k is:
//
//	+---+------------------+      +---+------------+
//	| k | k coefficients   |      | 0 | seed (8)   |
//	+---+------------------+      +---+------------+
//
// A seed expands by SplitMix64: for each eight coefficients, add
// 0x9e3779b97f4a7c15 to the state, which begins as the seed; then z = state,
// z = (z ^ z>>30) * 0xbf58476d1ce4e5b9, z = (z ^ z>>27) * 0x94d049bb133111eb,
// z = z ^ z>>31, all modulo 2^64; the coefficients are the bytes of z, the lowest
// first, of which the last z may have too many. If all k are zero, the next k are
// made in the same way, beginning with the next z.
//
// The field is that of Reed-Solomon codes: polynomials over GF(2) modulo
// x^8 + x^4 + x^3 + x^2 + 1 (0x11d).
package rlnc
