package proto

import "fmt"

// PeerID names a node. It is opaque here and in package mob: its only uses are
// equality and order. At the edge it holds the bytes of a libp2p peer id.
type PeerID string

// MarshalBinary makes a peer id a byte string on the wire. It never fails.
func (id PeerID) MarshalBinary() ([]byte, error) { return []byte(id), nil }

// UnmarshalBinary is the inverse of MarshalBinary. It never fails.
func (id *PeerID) UnmarshalBinary(b []byte) error {
	*id = PeerID(b)
	return nil
}

// CheckCluster reports why name cannot be a cluster's name: it must have 1 to
// [MaxCluster] bytes of letters, digits, '.', '_' and '-'.
func CheckCluster(name string) error {
	if name == "" || len(name) > MaxCluster {
		return fmt.Errorf("cluster name %q: want 1 to %d characters", name, MaxCluster)
	}
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return fmt.Errorf("cluster name %q: only letters, digits, '.', '_' and '-' may be used", name)
		}
	}
	return nil
}
