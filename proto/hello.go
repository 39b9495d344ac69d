package proto

import "fmt"

// Hello opens a control stream, from both sides.
type Hello struct {
	_ struct{} `cbor:",toarray"`
	// Swarm is a key of the swarm that both know, see [Link.Keys].
	Swarm []byte
	// Cluster is the name of the sender's cluster.
	Cluster string
	// Addrs are the binary multiaddrs at which the sender accepts connections.
	Addrs [][]byte
	// Seed says that the sender needs no piece.
	Seed bool
	// Features is a bit set of optional abilities, see [FeatureCoded].
	Features uint64
}

// Type implements [Message].
func (*Hello) Type() Type { return TypeHello }

func (m *Hello) check() error {
	if err := checkCID(m.Swarm); err != nil {
		return err
	}
	if err := CheckCluster(m.Cluster); err != nil {
		return err
	}
	return checkAddrs(m.Addrs)
}

// BulkHello opens a bulk stream: the sender will send blocks of Swarm on it, which is
// the key in the [Hello] of the two.
type BulkHello struct {
	_     struct{} `cbor:",toarray"`
	Swarm []byte
}

// Type implements [Message].
func (*BulkHello) Type() Type { return TypeBulkHello }

func (m *BulkHello) check() error { return checkCID(m.Swarm) }

func checkCID(b []byte) error {
	if len(b) == 0 || len(b) > MaxCID {
		return fmt.Errorf("content id of %d bytes, want 1 to %d", len(b), MaxCID)
	}
	return nil
}
