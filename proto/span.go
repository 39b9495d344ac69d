package proto

import "fmt"

// Span is part of a piece: Length bytes from offset Begin.
type Span struct {
	_      struct{} `cbor:",toarray"`
	Piece  uint32
	Begin  uint32
	Length uint32
}

func (s Span) check() error {
	if s.Piece >= MaxPieces || s.Length == 0 || s.Length > MaxBlock || uint64(s.Begin)+uint64(s.Length) > MaxPieceLength {
		return fmt.Errorf("bad span %d:%d+%d", s.Piece, s.Begin, s.Length)
	}
	return nil
}
