package proto

import "fmt"

// Range is a run of consecutive pieces: First, First+1, ... First+Count-1.
type Range struct {
	_     struct{} `cbor:",toarray"`
	First uint32
	Count uint32
}

// End is the first piece after the range.
func (r Range) End() uint64 { return uint64(r.First) + uint64(r.Count) }

func checkRanges(what string, rs []Range) error {
	if len(rs) > MaxRanges {
		return fmt.Errorf("%s: %d ranges, at most %d", what, len(rs), MaxRanges)
	}
	for _, r := range rs {
		if r.Count == 0 || r.End() > MaxPieces {
			return fmt.Errorf("%s: bad range %d+%d", what, r.First, r.Count)
		}
	}
	return nil
}
