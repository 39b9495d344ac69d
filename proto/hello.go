package proto

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

// Type implements [Message].
func (*Hello) Type() Type { return TypeHello }

func (m *Hello) check() error {
	if err := checkKey(m.Swarm); err != nil {
		return err
	}
	if err := CheckCluster(m.Cluster); err != nil {
		return err
	}
	return checkAddrs(m.Addrs)
}
