package proto

// Request asks for a block. The receiver serves requests in the order of their arrival,
// and answers one for a piece that it does not have with [Reject].
type Request struct {
	_ struct{} `cbor:",toarray"`
	Span
}

// Type implements [Message].
func (*Request) Type() Type { return TypeRequest }
