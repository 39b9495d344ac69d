// Package coded has the codecs of coded transfers, in which nodes exchange random linear
// combinations of the source blocks of generations. See docs/wire.md, section 7.6, for
// generations and names.
//
// [Codec] is for receiver-driven transfers. A block has a name, which determines its
// coefficients, and is requested by it. It is signed by the node that made it from
// verified pieces, its encoder, and passed on as it is.
//
// [Permutation] is for permutation gossip. A block is sent with its coefficients, and
// nodes recode: they send combinations of what they have of a generation before it can be
// decoded.
//
// # A generation of named blocks
//
//	gathering -> decoding -> whole
//	                |          ^
//	                v          |
//	             repairing ----+
//
// Blocks are gathered, and passed on meanwhile, until k of them are linearly independent.
// Then they are decoded, and the pieces that match their hashes are written and committed.
// Blocks of a whole generation are made from its pieces, which are read again unless they
// are among those that are kept in memory.
//
// # Polluters
//
// A coded block cannot be verified by itself, and with one false block all that is decoded
// is wrong. If a generation fails its hashes, first the signatures of its blocks are
// checked. One that is invalid is its sender's fault. If all are valid, the node keeps what
// their encoders claim, that is the hash of each payload, and drops the payloads. It
// repairs the generation from source blocks, which it verifies piece by piece. Then it
// makes each block that was claimed and compares the hash: an encoder that signed another
// one is a polluter. No honest node is blamed, since it signs only what it made of pieces
// that it hashed again when it read them.
//
// # Keys that belong to nobody
//
// To sign each false block with a new key is of no use. A node that has decoded a generation makes all its
// blocks itself, and before that it has at most k of them. So a block from a peer that announced more must
// have the peer's own signature; any other is the peer's fault, and a few ban it. That happens to no honest
// node, whatever others send it.
//
// A peer that has not decoded a generation may send blocks of other encoders. A node takes only blocks whose encoder is the
// sender, a joined peer, or a member that a tracker named. It rejects the remaining blocks and requests them of another peer.
//
// Recoded blocks are not signed, since a node that recodes does not know what it sends. A
// generation that fails its hashes is dropped, and gathered again; polluters are not
// identified.
//
// # Memory
//
// A generation of named blocks takes its size while it is gathered, and as much again for
// the source blocks that did not arrive as such while it is decoded. The strategy bounds
// how many are under way (see [Live]), and twice as many whole ones are kept for encoding.
// The memory of blocks is pooled: garbage would double it. While a generation is repaired
// each version of a source block that was signed is kept.
//
// Of recoded generations at most three are gathered at a time, and two whole ones are
// kept, each of k blocks. A worker that decodes has one more.
package coded
