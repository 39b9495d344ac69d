package proto

// PeerID identifies a node. It is opaque to this package and to package mob, which only
// compare it. It holds the bytes of a libp2p peer id.
type PeerID string

// MarshalBinary encodes the id as a byte string. It never fails.
func (id PeerID) MarshalBinary() ([]byte, error) { return []byte(id), nil }

// UnmarshalBinary is the inverse of MarshalBinary. It never fails.
func (id *PeerID) UnmarshalBinary(b []byte) error {
	*id = PeerID(b)
	return nil
}
