package proto

import "fmt"

// Span is a part of a piece: Length bytes from Begin on.
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

// Request asks for a span. Every request is honoured, in the order of arrival,
// unless the piece is not there: then it is answered by [Reject].
type Request struct {
	_ struct{} `cbor:",toarray"`
	Span
}

// Cancel takes a request back; the block may be on its way already.
type Cancel struct {
	_ struct{} `cbor:",toarray"`
	Span
}

// Reject answers a request that cannot be honoured.
type Reject struct {
	_ struct{} `cbor:",toarray"`
	Span
}

// Bad tells a peer that a piece of which it alone sent the blocks failed its
// hash. The peer checks its copy, and stops offering it when that fails too.
type Bad struct {
	_     struct{} `cbor:",toarray"`
	Piece uint32
}

// Type implements [Message].
func (*Request) Type() Type { return TypeRequest }

// Type implements [Message].
func (*Cancel) Type() Type { return TypeCancel }

// Type implements [Message].
func (*Reject) Type() Type { return TypeReject }

// Type implements [Message].
func (*Bad) Type() Type { return TypeBad }

func (m *Bad) check() error {
	if m.Piece >= MaxPieces {
		return fmt.Errorf("bad piece %d", m.Piece)
	}
	return nil
}
