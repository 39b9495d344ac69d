package proto

import "fmt"

// Taken acknowledges a [GossipBlock]: the sender is ready for the next one.
type Taken struct {
	_          struct{} `cbor:",toarray"`
	Generation uint32
}

// Type implements [Message].
func (*Taken) Type() Type { return TypeTaken }

func (m *Taken) check() error {
	if m.Generation >= MaxPieces {
		return fmt.Errorf("bad generation %d", m.Generation)
	}
	return nil
}
