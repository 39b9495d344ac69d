package proto

// Cancel withdraws a [Request]. The block may be on its way already.
type Cancel struct {
	_ struct{} `cbor:",toarray"`
	Span
}

// Type implements [Message].
func (*Cancel) Type() Type { return TypeCancel }
