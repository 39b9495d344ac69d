package proto

// Ping asks for a [Pong] with the same nonce: it measures the round trip and
// shows that the peer lives. The nonce is the sender's clock in microseconds, from
// any moment: how much longer than at best a Ping takes is the queue before it.
type Ping struct {
	_     struct{} `cbor:",toarray"`
	Nonce uint64
}

// Pong answers a [Ping] at once.
type Pong struct {
	_     struct{} `cbor:",toarray"`
	Nonce uint64
}

// Type implements [Message].
func (*Ping) Type() Type { return TypePing }

// Type implements [Message].
func (*Pong) Type() Type { return TypePong }

func (*Ping) check() error { return nil }
func (*Pong) check() error { return nil }
