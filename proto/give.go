package proto

// Give answers a [Steal] with the pieces that its sender has dropped, which may be none.
type Give struct {
	_      struct{} `cbor:",toarray"`
	Pieces []Range
}

// Type implements [Message].
func (*Give) Type() Type { return TypeGive }

func (m *Give) check() error { return checkRanges("give", m.Pieces) }
