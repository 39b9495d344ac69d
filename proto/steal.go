package proto

// Steal asks a local peer to give away a part of the pieces that it owns and
// has not asked for yet (MOB's successor Robber). Rate is the sender's measured
// rate over the WAN, in bytes per second; the owner keeps a part by its own.
type Steal struct {
	_    struct{} `cbor:",toarray"`
	Rate uint64
}

// Give answers a [Steal]: the receiver now owns Pieces, the sender no longer
// does. It may be empty.
type Give struct {
	_      struct{} `cbor:",toarray"`
	Pieces []Range
}

// Type implements [Message].
func (*Steal) Type() Type { return TypeSteal }

// Type implements [Message].
func (*Give) Type() Type { return TypeGive }

func (*Steal) check() error { return nil }

func (m *Give) check() error { return checkRanges("give", m.Pieces) }
