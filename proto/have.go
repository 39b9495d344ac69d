package proto

import (
	"cmp"
	"fmt"
)

// Have announces what changed at the sender since its last Have, among the pieces of the
// receiver's [Want].
type Have struct {
	_ struct{} `cbor:",toarray"`
	// Have are pieces that the sender has stored and verified, and serves.
	Have []Range
	// Claim are pieces that the sender requested over the WAN, or is about to. To a
	// global peer it also lists those that other members of its cluster have or claim.
	Claim []Range
	// Drop are pieces of which an earlier have or claim no longer holds.
	Drop []Range
	// Left is the number of pieces that the sender waits for over the WAN and would
	// give away to a [Steal], because they are slow. It is 0 to a global peer.
	Left uint32
}

func (m *Have) check() error {
	return cmp.Or(checkRanges("have", m.Have), checkRanges("claim", m.Claim), checkRanges("drop", m.Drop))
}

// Want subscribes to the haves and claims of a list of pieces. It replaces
// the sender's last Want. The receiver answers with a [Have].
type Want struct {
	_      struct{} `cbor:",toarray"`
	Pieces []Range
}

func (m *Want) check() error { return checkRanges("want", m.Pieces) }

// Range is Count consecutive pieces from First.
type Range struct {
	_     struct{} `cbor:",toarray"`
	First uint32
	Count uint32
}

// End returns the first piece after the range. It cannot overflow.
func (r Range) End() uint64 { return uint64(r.First) + uint64(r.Count) }

// checkRanges reports a range that is empty or beyond [MaxPieces], and ranges that have
// more pieces together: a few bytes must not make a reader walk billions of pieces.
func checkRanges(what string, rs []Range) error {
	if len(rs) > MaxRanges {
		return fmt.Errorf("%s: %d ranges, at most %d", what, len(rs), MaxRanges)
	}
	var total uint64
	for _, r := range rs {
		if r.Count == 0 || r.End() > MaxPieces {
			return fmt.Errorf("%s: bad range %d+%d", what, r.First, r.Count)
		}
		total += uint64(r.Count)
	}
	if total > MaxPieces {
		return fmt.Errorf("%s: ranges of %d pieces, at most %d", what, total, MaxPieces)
	}
	return nil
}
