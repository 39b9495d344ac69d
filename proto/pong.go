package proto

// Pong answers a [Ping] at once, with its nonce.
type Pong struct {
	_     struct{} `cbor:",toarray"`
	Nonce uint64
}

// Type implements [Message].
func (*Pong) Type() Type { return TypePong }

func (*Pong) check() error { return nil }
