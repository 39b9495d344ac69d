package proto

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

// Type implements [Message].
func (*Have) Type() Type { return TypeHave }

func (m *Have) check() error {
	if err := checkRanges("have", m.Have); err != nil {
		return err
	}
	if err := checkRanges("claim", m.Claim); err != nil {
		return err
	}
	return checkRanges("drop", m.Drop)
}
