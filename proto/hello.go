package proto

import "cmp"

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
	return cmp.Or(checkKey(m.Swarm), CheckCluster(m.Cluster), checkAddrs(m.Addrs))
}

// BulkHello opens a bulk stream, on which its sender then sends blocks. Swarm is the key
// that the [Hello] messages of the two nodes have.
type BulkHello struct {
	_     struct{} `cbor:",toarray"`
	Swarm []byte
}

func (m *BulkHello) check() error { return checkKey(m.Swarm) }

// checkKey reports why b cannot be a key of a swarm, which is a binary content id.
func checkKey(b []byte) error { return checkSize("content id", len(b), MaxCID) }
