package proto

import "fmt"

// Hello opens a control stream. Both sides send one.
type Hello struct {
	_ struct{} `cbor:",toarray"`
	// Swarm is a key of the swarm that both sides know, see [Link.Keys].
	Swarm []byte
	// Cluster is the name of the sender's cluster.
	Cluster string
	// Addrs are the binary multiaddrs at which the sender accepts connections.
	Addrs [][]byte
	// Seed reports that the sender needs no piece.
	Seed bool
	// Features is a bit set of optional abilities, see [Coding.Features].
	Features uint64
}

func (m *Hello) check() error {
	if err := checkKey(m.Swarm); err != nil {
		return err
	}
	if err := CheckCluster(m.Cluster); err != nil {
		return err
	}
	return checkAddrs(m.Addrs)
}

// BulkHello opens a bulk stream, on which its sender then sends blocks. Swarm is the key
// that the [Hello] messages of the two nodes have.
type BulkHello struct {
	_     struct{} `cbor:",toarray"`
	Swarm []byte
}

func (m *BulkHello) check() error { return checkKey(m.Swarm) }

// checkKey reports why b cannot be a key of a swarm, which is a binary content id.
func checkKey(b []byte) error {
	if len(b) == 0 || len(b) > MaxCID {
		return fmt.Errorf("content id of %d bytes, want 1 to %d", len(b), MaxCID)
	}
	return nil
}
