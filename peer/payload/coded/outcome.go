package coded

import "github.com/mobgrid/mob/proto"

// Verdict is what became of a block.
type Verdict int

// The verdicts.
const (
	// Duplicate: the block is there already.
	Duplicate Verdict = iota
	// Ignored: nothing came of it. What becomes of its generation is told soon, or its
	// generation needs source blocks.
	Ignored
	// Forged: it is no block, or not what anybody signed. Whoever sent it is to blame.
	Forged
	// Purged: its generation could have been decoded, but blocks of it, perhaps this one,
	// are not what anybody signed. They are dropped, and Faults are who sent them.
	Purged
	// Refused: its encoder is a liar. Another node may have the block from somebody else.
	Refused
	// Useless: it follows from what is there.
	Useless
	// Held: it is kept, and may be passed on if it is signed, though it may be false.
	Held
	// PieceStored: it was the last of its piece, which is stored. Numbers are its blocks.
	PieceStored
	// PieceFailed: it was the last of its piece, and the piece is not right: Numbers are
	// not passed on any more, and have to be asked for again.
	PieceFailed
	// Decoded: it was the last that its generation needed; all of that is verified and
	// stored.
	Decoded
	// Polluted: its generation could have been decoded, but blocks of it were false.
	// None of them is kept: its source blocks are needed, but Numbers.
	Polluted
	// Malformed: no block of the content is like that. Whoever sent it is to blame.
	Malformed
	// Last: it was the last that its generation needed. [Recoded.Decode] is next.
	Last
)

// Outcome is what became of a block, and of others by it.
type Outcome struct {
	Verdict    Verdict
	Generation int
	// Numbers are other blocks, see the verdicts.
	Numbers []uint32
	// Liars were found to have made false blocks. Blocks of theirs may be held still:
	// see [Content.Disown].
	Liars []Key
	// Faults are blocks that were wrong, and are their senders' fault.
	Faults []Fault
}

// Fault is a block that its sender is to blame for.
type Fault struct {
	Number uint32
	Sender proto.PeerID
}
