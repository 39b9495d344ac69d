package proto

import "fmt"

// Request asks for a block. The receiver serves requests in the order of their arrival,
// and answers one for a piece that it does not have with [Reject].
type Request struct {
	_ struct{} `cbor:",toarray"`
	Span
}

// Cancel withdraws a [Request]. The block may be in flight already.
type Cancel struct {
	_ struct{} `cbor:",toarray"`
	Span
}

// Reject answers a [Request] that is not served.
type Reject struct {
	_ struct{} `cbor:",toarray"`
	Span
}

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
