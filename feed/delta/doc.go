// Package delta has what differs between two versions of a file or directory. Each piece of the new version is compared with
// the bytes that the version before has in the same files at the same offsets. A delta has the XOR of the two for the
// pieces that differ, compressed: where few values change, such as in the weights of a model, it is small.
//
// A delta is the line "mob-delta 2", and then for each piece in ascending order its number and the length of its difference,
// 4 bytes each, big endian, and the difference in the format of DEFLATE (RFC 1951). Decompressed, that is a sequence of runs: the
// number of equal bytes before the run and its length, as uvarints, and the XOR of its bytes. It is not trusted: pieces are hashed.
package delta
