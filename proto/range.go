package proto

import "fmt"

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
