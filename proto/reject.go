package proto

// Reject refuses a [Request].
type Reject struct {
	_ struct{} `cbor:",toarray"`
	Span
}

// Type implements [Message].
func (*Reject) Type() Type { return TypeReject }
