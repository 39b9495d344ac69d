package coded

import "github.com/mobgrid/mob/proto"

// verdict classifies a block that arrived.
type verdict int

const (
	// duplicate: the node has the block already.
	duplicate verdict = iota
	// ignored: the block is not needed. Its generation is complete or being decoded, or is
	// being repaired from source blocks only.
	ignored
	// useless: it is a linear combination of blocks that the node has.
	useless
	// invalid: it is not a block of the content, its signature is invalid, or its sender should have
	// made and signed it. Its sender is at fault.
	invalid
	// held: it is kept. It may be corrupt.
	held

	// The following are for named blocks only.

	// rejected: its encoder is a polluter, or unknown. Its sender is not at fault. Another peer may
	// have the block from another encoder.
	rejected
	// purged: its generation could be decoded and failed its hashes, since blocks of it,
	// perhaps this one, have invalid signatures. Those are dropped, see faults.
	purged
	// pieceStored: it completed its piece, which is stored. Numbers are the piece's blocks.
	pieceStored
	// pieceFailed: it completed its piece, which failed its hash. Numbers are the piece's blocks, which
	// are not available any more and must be requested again.
	pieceFailed
	// decoded: it completed its generation, which is verified and stored.
	decoded
	// polluted: it completed its generation, which failed its hashes. All blocks are
	// dropped, and the generation is repaired from its source blocks, of which only
	// numbers are available.
	polluted

	// full, for recoded blocks: its generation can be decoded. The caller does so.
	full
)

// outcome is the result of a block.
type outcome struct {
	verdict verdict

	// Of a named block:
	numbers   []uint32    // see verdict
	polluters []publicKey // encoders found to be polluters: the caller must call dropPolluted
	faults    []fault

	// Of a recoded block:
	block   int // the number of a source block, -1 for a combination
	dropped int // the generation dropped because too many were active, -1 for none
}

// fault is a block whose sender is at fault.
type fault struct {
	number uint32
	sender proto.PeerID
}
