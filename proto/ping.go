package proto

// Ping asks for a [Pong] with the same nonce. It measures the round trip and the queue on
// the path, and shows that the peer is alive. The nonce is the sender's clock in
// microseconds, from any epoch: by how much the one-way time of a Ping exceeds the least
// one is the queueing delay from the sender to the receiver.
type Ping struct {
	_     struct{} `cbor:",toarray"`
	Nonce uint64
}

func (*Ping) check() error { return nil }

// Pong answers a [Ping] immediately, with its nonce.
type Pong struct {
	_     struct{} `cbor:",toarray"`
	Nonce uint64
}

func (*Pong) check() error { return nil }
