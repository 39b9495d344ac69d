package proto

// Want lists the pieces of which the sender wants to receive haves and claims. It replaces
// the sender's last Want. The receiver answers with a [Have].
type Want struct {
	_      struct{} `cbor:",toarray"`
	Pieces []Range
}

// Type implements [Message].
func (*Want) Type() Type { return TypeWant }

func (m *Want) check() error { return checkRanges("want", m.Pieces) }
