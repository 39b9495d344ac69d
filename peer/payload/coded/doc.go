// Package coded implements the codecs of coded transfers, whose blocks are random linear combinations of
// the source blocks of a generation. Section 7.6 of docs/wire.md defines generations and names.
//
// [Codec] is for receiver-driven transfers. A block has a name, which determines its coefficients and is
// used to request it. The node that makes a block from verified pieces, its encoder, signs it; other
// nodes forward it unchanged.
//
// [Permutation] is for permutation gossip. A block has its coefficients with it, and nodes recode: they
// send combinations of the blocks of a generation before they can decode it.
//
// # Generations
//
//	gathering -> decoding -> ended
//	                |          ^
//	                v          |
//	             repairing ----+
//
// A node gathers and sends blocks until k of them are linearly independent. Then it decodes them, and
// commits the pieces that match their hashes. Blocks of a complete generation are made from its pieces,
// which are read again unless they are in the cache.
//
// # Corrupt blocks
//
// A block cannot be verified by itself, and one corrupt block corrupts the decoded generation. If a
// generation of named blocks fails its hashes, the node checks their signatures. An invalid one is the
// sender's fault: the block is dropped and another one requested. If all are valid, the node keeps the
// claims of the encoders, which are the hashes of the payloads, and repairs the generation: it fetches
// the source blocks, each piece from one peer, and verifies the pieces. Then it makes each
// claimed block: an encoder that signed another one is a polluter. An honest node signs only blocks
// made from pieces that it has just hashed, so it is never named.
//
// New keys do not help a polluter. A node that has decoded a generation signs all its blocks, and
// before that it has at most k of them. So a peer that announced more than k blocks must sign them with
// its own key. Blocks of another peer are taken only if their encoder is the sender, a joined peer, or a
// member that a tracker named. Any other block is rejected and requested of another peer.
//
// Recoded blocks are not signed. A generation that fails its hashes is dropped and gathered again;
// polluters are not named.
//
// # Memory
//
// A generation takes its size while it is gathered, and twice as much while it is decoded. The strategy
// bounds the generations of named blocks (see [Live]); permutation gossip has three. The cache
// has twice as many, or two. The memory of blocks is pooled: garbage would double it.
package coded
