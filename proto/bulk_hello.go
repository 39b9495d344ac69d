package proto

// BulkHello opens a bulk stream, on which its sender then sends blocks. Swarm is the key
// that the [Hello] messages of the two nodes have.
type BulkHello struct {
	_     struct{} `cbor:",toarray"`
	Swarm []byte
}

// Type implements [Message].
func (*BulkHello) Type() Type { return TypeBulkHello }

func (m *BulkHello) check() error { return checkKey(m.Swarm) }
