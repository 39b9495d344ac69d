package coded

import "github.com/mobgrid/mob/proto"

// verdict is what became of a block.
type verdict int

const (
	// duplicate: the block is there already.
	duplicate verdict = iota
	// ignored: the block is not needed. Its generation is whole or being decoded, or is
	// being repaired from source blocks only.
	ignored
	// invalid: it is no block of the content, its signature is invalid, or its sender should have
	// made and signed it. Its sender is to blame.
	invalid
	// useless: it is a linear combination of blocks that are there.
	useless
	// held: it is kept. It may be false.
	held

	// The following are for named blocks only.

	// refused: its encoder is a polluter, or unknown. Its sender is not to blame. Another peer may
	// have the block from another encoder.
	refused
	// purged: its generation could be decoded and failed its hashes, since blocks of it,
	// perhaps this one, have invalid signatures. Those are dropped, see numbers, and
	// their senders are in faults.
	purged
	// pieceStored: it completed its piece, which is stored. Numbers are the piece's
	// blocks.
	pieceStored
	// pieceFailed: it completed its piece, which failed its hash. Numbers are not
	// available any more, and must be requested again.
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

// outcome is what became of a named block, and of others because of it.
type outcome struct {
	verdict    verdict
	generation int
	numbers    []uint32    // see verdict
	polluters  []publicKey // the encoders found to be polluters: the caller must call disown
	faults     []fault
}

// fault is a block whose sender is to blame.
type fault struct {
	number uint32
	sender proto.PeerID
}
