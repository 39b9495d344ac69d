package proto

import "fmt"

// Holds lists the plain blocks of a generation that the sender has, as a bitmap: the first
// block is the lowest bit of the first byte.
type Holds struct {
	_          struct{} `cbor:",toarray"`
	Generation uint32
	Blocks     []byte
}

// Type implements [Message].
func (*Holds) Type() Type { return TypeHolds }

func (m *Holds) check() error {
	if m.Generation >= MaxPieces || len(m.Blocks) > (MaxCodedK+7)/8 {
		return fmt.Errorf("bad bitmap of %d bytes for generation %d", len(m.Blocks), m.Generation)
	}
	return nil
}
