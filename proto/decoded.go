package proto

// Decoded lists what changed among the generations of which the sender needs no more
// blocks in permutation gossip. Generations are decoded or about to be. Lost are
// generations listed before that failed their hashes, so the sender needs blocks again.
type Decoded struct {
	_           struct{} `cbor:",toarray"`
	Generations []Range
	Lost        []Range
}

// Type implements [Message].
func (*Decoded) Type() Type { return TypeDecoded }

func (m *Decoded) check() error {
	if err := checkRanges("decoded", m.Generations); err != nil {
		return err
	}
	return checkRanges("lost", m.Lost)
}
