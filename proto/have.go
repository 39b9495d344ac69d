package proto

// Have tells what changed at the sender since its last Have, among the pieces in
// the reader's [Want]; the first one after a Want tells all that is new to it.
type Have struct {
	_ struct{} `cbor:",toarray"`
	// Have are pieces that are stored, verified and served.
	Have []Range
	// Claim are pieces that the sender asked for over the WAN, or is about to; to
	// a global peer also those that its cluster has or claims.
	Claim []Range
	// Drop are pieces whose have or claim no longer holds.
	Drop []Range
	// Left counts the pieces that the sender owns and has neither stored nor
	// asked for: what a local peer may steal from.
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

// Want names the pieces whose haves and claims the sender wishes to hear of. It
// replaces the sender's last Want, and is answered with a Have of them.
type Want struct {
	_      struct{} `cbor:",toarray"`
	Pieces []Range
}

// Type implements [Message].
func (*Want) Type() Type { return TypeWant }

func (m *Want) check() error { return checkRanges("want", m.Pieces) }
