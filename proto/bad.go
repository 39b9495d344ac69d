package proto

import "fmt"

// Bad reports that a piece failed its hash after the receiver of this message sent all its
// blocks. The receiver checks its copy, and drops the piece if that fails too.
type Bad struct {
	_     struct{} `cbor:",toarray"`
	Piece uint32
}

func (m *Bad) check() error {
	if m.Piece >= MaxPieces {
		return fmt.Errorf("bad piece %d", m.Piece)
	}
	return nil
}
